package main

import "github.com/spf13/cobra"

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
	atLeast := atLeastFlag(clusters)
	clusters.RunE = func(cmd *cobra.Command, args []string) error {
		sql := `select * from alike.clusters($1, $2)`
		if write {
			sql = `select alike.write_clusters($1, $2) as rows`
		}
		_, err := c.print(cmd, sql, args[0], *atLeast)
		return err
	}
	return clusters
}
