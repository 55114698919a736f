package main

import (
	"github.com/spf13/cobra"

	"github.com/alike-sql/alike/pgworker/worker"
)

func (c *command) clustersCommand() *cobra.Command {
	var write bool
	clusters := &cobra.Command{
		Use:   "clusters TABLE",
		Short: "The cluster of every row that resembles another one",
		Long: `clusters prints the rows that belong to a cluster, with the cluster's least key
and its size. --write keeps them in TABLE_alike_cluster instead, where a cluster
keeps its id as long as one of its rows does; the worker then brings that table
up to date with each checkin.`,
		Args: cobra.ExactArgs(1),
	}
	clusters.Flags().BoolVar(&write, "write", false, "keep the clusters in a table")
	atLeast, exact := atLeastFlag(clusters), exactFlag(clusters)
	clusters.RunE = func(cmd *cobra.Command, args []string) error {
		if write && *exact {
			return usagef("--exact prints clusters; the clusters that --write keeps are made from the sketches")
		} else if write {
			_, err := c.print(cmd, `select alike.write_clusters($1, $2) as rows`, args[0], *atLeast)
			return err
		}
		return c.answer(cmd, args[0], *atLeast, *exact, []string{"key", "cluster", "size"},
			func(e *worker.Exact, out *sheet) error {
				return e.Clusters(cmd.Context(), func(key, cluster string, size int) error { return out.row([]any{key, cluster, size}) })
			}, `select * from alike.clusters($1, $2)`, args[0], *atLeast)
	}
	return clusters
}
