package extract

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// alone puts a command into a process group of its own, so that ending it ends
// what it started too.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// limit bounds a running command. Its data are limited rather than its address
// space: run times such as Haskell's (pandoc) reserve a terabyte of addresses
// that they never use.
func limit(pid int, c Config) error {
	seconds := uint64(c.Timeout.Seconds()) + 1
	for resource, max := range map[int]uint64{
		unix.RLIMIT_DATA: uint64(c.Memory), unix.RLIMIT_CPU: seconds,
		unix.RLIMIT_FSIZE: uint64(c.Output), unix.RLIMIT_CORE: 0,
	} {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: max, Max: max}, nil); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}
