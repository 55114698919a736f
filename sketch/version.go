package sketch

// Version is the release that this source is of, or that comes next. Every package, command
// and engine says it.
const Version = "0.1.0"
