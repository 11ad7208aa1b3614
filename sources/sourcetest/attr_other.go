//go:build !linux

package sourcetest

import "syscall"

// dieWithUs cannot be asked of other systems: servers are stopped by StopShared
// and by the end of their test.
func dieWithUs() *syscall.SysProcAttr { return nil }
