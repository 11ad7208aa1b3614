//go:build !linux

package campaign

import "syscall"

func dieWithUs() *syscall.SysProcAttr { return nil }
