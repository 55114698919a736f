package sketch

import "runtime/debug"

// Version is the release that this source is of, or that comes next. Every package, command
// and engine says it.
const Version = "0.1.0"

// Commit returns the commit of this program, or unknown if the build recorded none.
func Commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
