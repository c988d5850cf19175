// Package infer proposes CREATE EXTERNAL TABLE statements for a table without a definition. Sample reads rows of the
// table; Propose is a pure function of the sample.
//
// Propose tries ways to divide the keys into parts. It compares them by the bits that are needed to write a key down
// once its parts are known: a constant costs nothing, a hash that can be recomputed costs nothing, a number costs its
// range, a text its letters. Package catalog then builds each proposal, and the verifier reads each sampled key with
// it.
package infer
