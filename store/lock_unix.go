//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lock takes the file for this process until unlock: a second process on it
// would send the same letters. The lock is the system's (flock), on a file
// beside the store, and goes with the process however that ends. It is not on
// the store's own file because closing any handle of that one lets go of the
// locks that SQLite has on it (POSIX advisory locks). Errors: ErrInUse.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the store %s: %w", path, err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = inUse(path)
	} else if err == nil {
		err = sign(file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// sign writes into the lock who has it, for the one who finds it taken.
func sign(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(file, "%d\n", os.Getpid())
	return err
}

func inUse(path string) error {
	owner := "another process"
	if pid, err := os.ReadFile(path + ".lock"); err == nil && len(pid) > 0 {
		owner = "process " + strings.TrimSpace(string(pid))
	}
	return fmt.Errorf("%w: %s is open in %s; stop that one first, or name another file with the key store", ErrInUse, path, owner)
}
