// Package lineedit reads lines at a terminal. It uses chzyer/readline and works around its faults: wide characters move
// the cursor by one column, Delete on an empty line ends the input, a pasted tab starts a completion, and long pastes are
// redrawn key by key.
package lineedit
