package sourcetest

import "os"

// Signal sends the server a signal. After SIGSTOP it hangs with its connections
// open, until SIGCONT.
func (s *server) Signal(sig os.Signal) error { return s.now.cmd.Process.Signal(sig) }

// Version is the server's name with its version, such as "Apache Kafka 4.4.0".
func (s *server) Version() string { return s.name }
