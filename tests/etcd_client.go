// Go's clientv3 and its recipes against front ends: etcd_client.go PID ADDRESS ADDRESS... Prints "all" if everything is as with etcd.
// PID: the process at the first address, which is stopped under a watch.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

func must(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func require(holds bool, what string) {
	if !holds {
		must(fmt.Errorf("%s", what))
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: os.Args[3:], DialTimeout: 10 * time.Second})
	must(err)
	defer client.Close()
	watched := client.Watch(ctx, "/go/", clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithCreatedNotify())
	require((<-watched).Created, "a watch is created")
	_, err = client.Put(ctx, "/go/a", "1")
	must(err)
	_, err = client.Put(ctx, "/go/a", "2")
	must(err)
	event := (<-watched).Events[0]
	require(event.IsCreate() && string(event.Kv.Value) == "1", "the first event is a creation")
	event = (<-watched).Events[0]
	require(event.IsModify() && string(event.PrevKv.Value) == "1", "the second event has the value before")
	count(ctx, client)
	elect(ctx, client)
	transact(ctx, client)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(30))
	must(err)
	_, err = client.Put(ctx, "/go/session", "x", clientv3.WithLease(session.Lease()))
	must(err)
	must(session.Close())
	got, err := client.Get(ctx, "/go/session")
	must(err)
	require(got.Count == 0, "a closed session has no keys")
	stop(ctx, client)
	fmt.Println("all")
}

// stop: a watch at a front end that ends goes on at another one.
func stop(ctx context.Context, client *clientv3.Client) {
	moved, err := clientv3.New(clientv3.Config{Endpoints: os.Args[2:3], DialTimeout: 10 * time.Second})
	must(err)
	defer moved.Close()
	watched := moved.Watch(ctx, "/moved", clientv3.WithCreatedNotify())
	require((<-watched).Created, "a watch is created at the first address")
	moved.SetEndpoints(os.Args[2:]...)
	pid, err := strconv.Atoi(os.Args[1])
	must(err)
	must(syscall.Kill(pid, syscall.SIGTERM))
	for syscall.Kill(pid, 0) == nil {
		time.Sleep(10 * time.Millisecond)
	}
	_, err = client.Put(ctx, "/moved", "1")
	must(err)
	told, isOpen := <-watched
	require(isOpen && told.Err() == nil && len(told.Events) == 1, "the watch goes on at another front end")
}

// count: a counter under a mutex, of which no step is lost.
func count(ctx context.Context, client *clientv3.Client) {
	var group sync.WaitGroup
	steps := 0
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			session, err := concurrency.NewSession(client, concurrency.WithTTL(30))
			must(err)
			defer session.Close()
			mutex := concurrency.NewMutex(session, "/mutex")
			for j := 0; j < 3; j++ {
				must(mutex.Lock(ctx))
				seen := steps
				time.Sleep(time.Millisecond)
				steps = seen + 1
				must(mutex.Unlock(ctx))
			}
		}()
	}
	group.Wait()
	require(steps == 12, "a mutex excludes")
}

func elect(ctx context.Context, client *clientv3.Client) {
	first, err := concurrency.NewSession(client, concurrency.WithTTL(30))
	must(err)
	second, err := concurrency.NewSession(client, concurrency.WithTTL(30))
	must(err)
	one, two := concurrency.NewElection(first, "/office"), concurrency.NewElection(second, "/office")
	must(one.Campaign(ctx, "one"))
	elected := make(chan error)
	go func() { elected <- two.Campaign(ctx, "two") }()
	leader, err := one.Leader(ctx)
	must(err)
	require(string(leader.Kvs[0].Value) == "one", "the first one leads")
	must(first.Close())
	must(<-elected)
	leader, err = two.Leader(ctx)
	must(err)
	require(string(leader.Kvs[0].Value) == "two", "the second one leads behind the first")
	must(second.Close())
}

// transact: transfers in transactional memory, by several at once: the sum stays.
func transact(ctx context.Context, client *clientv3.Client) {
	accounts := []string{"/account/0", "/account/1", "/account/2"}
	for _, account := range accounts {
		_, err := client.Put(ctx, account, "100")
		must(err)
	}
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for j := 0; j < 5; j++ {
				from, to := accounts[(i+j)%3], accounts[(i+j+1)%3]
				_, err := concurrency.NewSTM(client, func(stm concurrency.STM) error {
					var left, right int
					fmt.Sscan(stm.Get(from), &left)
					fmt.Sscan(stm.Get(to), &right)
					stm.Put(from, fmt.Sprint(left-7))
					stm.Put(to, fmt.Sprint(right+7))
					return nil
				})
				must(err)
			}
		}(i)
	}
	group.Wait()
	sum := 0
	got, err := client.Get(ctx, "/account/", clientv3.WithPrefix())
	must(err)
	for _, kv := range got.Kvs {
		var value int
		fmt.Sscan(string(kv.Value), &value)
		sum += value
	}
	require(sum == 300, "transfers keep the sum")
}
