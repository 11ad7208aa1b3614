package campaign

import "syscall"

// dieWithUs has the kernel end the program when the thread that started it
// ends, however the test binary ends.
func dieWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
