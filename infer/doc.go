// Package infer proposes CREATE EXTERNAL TABLE statements for a table that nobody described. Sample reads rows of
// the table; Propose is a pure function of the sample.
//
// Propose tries ways to cut the keys into parts. It compares them by the bits that are still needed to write a
// key down once its parts are known: a constant costs nothing, a hash that can be recomputed costs nothing, a
// number costs its range, a text its letters. Package catalog then builds each proposal, and each sampled key is
// read with it.
package infer
