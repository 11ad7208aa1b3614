package sourcetest

import "syscall"

// dieWithUs has the kernel kill a server when the thread that started it ends,
// however the test binary ends: also by a panic, a time-out or kill -9.
func dieWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
