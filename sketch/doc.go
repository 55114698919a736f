// Package sketch computes sketches, features and similarity indexes of
// documents, and estimates from them how much two documents have in common.
package sketch
