package rpc

import "sync"

// users counts calls that use a handle, which goes with the last of them after close. The zero value is open.
type users struct {
	mutex  sync.Mutex
	count  int
	closed bool
}

// acquire has the handle stay until release; false after close.
func (u *users) acquire() bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.closed {
		return false
	}
	u.count++
	return true
}

// join counts one more for who is one already.
func (u *users) join() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.count++
}

// release tells whether the handle is to be freed now.
func (u *users) release() bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.count--
	return u.closed && u.count == 0
}

// close tells whether the handle is to be freed now, and not with a release; a second call, that it is not.
func (u *users) close() bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	isFirst := !u.closed
	u.closed = true
	return isFirst && u.count == 0
}
