package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alike-sql/alike/pgworker/source"
	"github.com/alike-sql/alike/sketch/review"
)

// reviewConfig is how the page logs in.
func reviewConfig(url string, hosts []string) (*pgxpool.Config, error) {
	if url == "" {
		return nil, usagef("--review needs --review-url or ALIKE_REVIEW_URL: the role with whose rights people decide")
	}
	for _, host := range hosts {
		if host == "" || strings.ContainsAny(host, "/: ") {
			return nil, usagef("--review-host %q: want a name alone, as in notes.example", host)
		}
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, usagef("--review-url: %w", err)
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["application_name"] = "pgworker review"
	config.ConnConfig.RuntimeParams["standard_conforming_strings"] = "on" // pgx insists, and the role may have another
	return config, nil
}

// reviewPage answers under /review/ with the rights of the role that the page logs in as.
func reviewPage(ctx context.Context, config *pgxpool.Config, token string, hosts []string, superuser bool) (http.Handler, func(), error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	var super bool
	if err := pool.QueryRow(ctx, "select rolsuper from pg_roles where rolname = current_user").Scan(&super); err != nil {
		pool.Close()
		return nil, nil, err
	}
	if super && !superuser {
		pool.Close()
		return nil, nil, errors.New("review: the role is a superuser; use a role with the rights of those who decide, or --allow-superuser")
	}
	pairs, err := source.Review(pool)
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	handler, err := review.Handler(review.Config{Source: pairs, Title: config.ConnConfig.Database, Token: token, Hosts: hosts})
	if err != nil {
		pool.Close()
		return nil, nil, err
	}
	return handler, pool.Close, nil
}

// beside answers under /review/ with the page and elsewhere with the worker.
func beside(page, worker http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(review.Prefix, page)
	mux.Handle("/", worker)
	return mux
}
