package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
	"github.com/alike-sql/alike/sketch/cluster"
)

func (c *command) clustersCommand() *cobra.Command {
	var write bool
	var linkage string
	clusters := &cobra.Command{
		Use:   "clusters TABLE",
		Short: "The cluster of every row that resembles another one",
		Long: `clusters prints the rows that belong to a cluster, with the cluster's smallest key
and its size. The linkage complete joins clusters whose members are alike,
single joins whatever is linked by pairs, greedy and popular put each row with
the first, or the most popular, row that it resembles.

--write computes the clusters of the linkage single in TABLE_alike_cluster, as the
option clusters of attach does: a cluster keeps its number, and the worker then
brings that table up to date with each checkin.`,
		Args: cobra.ExactArgs(1),
	}
	clusters.Flags().BoolVar(&write, "write", false, "keep the clusters in a table")
	clusters.Flags().StringVar(&linkage, "linkage", "complete", "complete, single, greedy or popular")
	atLeast, exact := atLeastFlag(clusters), exactFlag(clusters)
	clusters.MarkFlagsMutuallyExclusive("write", "linkage")
	clusters.MarkFlagsMutuallyExclusive("write", "at-least")
	clusters.MarkFlagsMutuallyExclusive("write", "exact")
	clusters.RunE = func(cmd *cobra.Command, args []string) error {
		by, err := cluster.ParseLinkage(linkage)
		if err != nil {
			return usagef("--linkage: %w", err)
		}
		if write {
			_, err := c.print(cmd, `select alike.write_clusters($1) as rows`, args[0])
			return err
		}
		return c.answer(cmd, args[0], *atLeast, *exact, []string{"key", "cluster", "size"},
			func(e *worker.Exact, out *sheet) error {
				return e.Clusters(cmd.Context(), by, func(key, cluster string, size int) error { return out.row([]any{key, cluster, size}) })
			}, `select * from alike.clusters($1, $2, $3)`, args[0], *atLeast, linkage)
	}
	return clusters
}
