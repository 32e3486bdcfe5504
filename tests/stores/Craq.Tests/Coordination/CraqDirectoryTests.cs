using Craq.Coordination;
using static Craq.Tests.Coordination.Samples;

namespace Craq.Tests.Coordination;

public sealed class CraqDirectoryTests : IAsyncDisposable
{
    private static readonly CancellationToken s_none = CancellationToken.None;
    private static readonly ChainOptions s_leased = ChainOptions.Default with { Reads = EpochProof.Leased };

    private readonly DirectoryWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Chain_is_created_on_registered_nodes_and_seen_by_every_process()
    {
        var directory = await _world.StartAsync(nodes: 3);
        var (_, other) = await _world.StartAsync();
        var created = await CreateAsync(directory, "a");
        Assert.Equal(3, created.Members.Length);
        Assert.Equal(Epoch.First, created.Epoch);
        var view = await _world.RunAsync(other.ReadAsync(s_none));
        Assert.Equal(created.ToString(), view.Chains[ChainId.FromName("a")].ToString());
        Assert.Equal(3, view.Nodes.Count);
    }

    [Fact]
    public async Task Chain_that_cannot_be_kept_is_refused()
    {
        var directory = await _world.StartAsync(nodes: 1);
        Assert.Contains("needs 2 nodes", await RefusalAsync(directory, "a", Placement.Default), Ordinal);
        Assert.NotNull(await RefusalAsync(directory, "", Placement.Default));
        Assert.NotNull(await RefusalAsync(directory, "a", Placement.Implicit(1, 65)));
        await CreateAsync(directory, "a", Placement.Implicit(1, 1));
        Assert.Contains("there is a chain", await RefusalAsync(directory, "a", Placement.Implicit(1, 1)), Ordinal);
    }

    [Fact]
    public async Task Change_is_recorded_once_among_proposers_of_one_epoch()
    {
        var directory = await _world.StartAsync(nodes: 4);
        var (_, other) = await _world.StartAsync();
        var chain = await CreateAsync(directory, "a");
        await _world.RunAsync(directory.OpenedAsync(chain.Id, chain.Epoch, s_none));
        var newcomer = (await _world.RunAsync(directory.ReadAsync(s_none))).Nodes.Keys
            .Single(node => chain.IndexOf(node) < 0);
        var one = directory.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Promote(newcomer, 1), s_none).AsTask();
        var two = other.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Remove([chain.Tail.Node]), s_none).AsTask();
        await _world.RunAsync(new ValueTask(Task.WhenAll(one, two)));
        Assert.Single([await one, await two], outcome => outcome.IsRecorded);
        Assert.All([await one, await two], outcome => Assert.Equal(new Epoch(2), outcome.Config!.Epoch));
    }

    [Fact]
    public async Task Opening_of_a_replaced_epoch_is_passed_over()
    {
        var directory = await _world.StartAsync(nodes: 3);
        var chain = await CreateAsync(directory, "a");
        var removed = await _world.RunAsync(directory.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Remove([chain.Head.Node]), s_none));
        await _world.RunAsync(directory.OpenedAsync(chain.Id, chain.Epoch, s_none));
        Assert.False((await NewestAsync(directory, "a")).IsRecordedOpen);
        Assert.Equal(3, removed.Config!.Base.Length);
        await _world.RunAsync(directory.OpenedAsync(chain.Id, new Epoch(2), s_none));
        var opened = await NewestAsync(directory, "a");
        Assert.True(opened.IsRecordedOpen);
        Assert.Equal(2, opened.Base.Length);
    }

    [Fact]
    public async Task Lease_of_a_silent_process_ends_and_the_node_registers_again()
    {
        var (dying, mine) = await _world.StartAsync();
        var (_, other) = await _world.StartAsync();
        var lease = await _world.RegisterAsync(mine, Node(1));
        await _world.PassAsync(TimeSpan.FromSeconds(10));
        Assert.True(lease.IsRegistered);
        dying.Connection.Lose();
        await _world.UntilAsync(other, view => view.Nodes[Id(1)].State == DirectoryNodeState.Gone);
        Assert.False(lease.IsRegistered);
        dying.Connection.Restore();
        await _world.UntilAsync(other, view => view.Nodes[Id(1)].State == DirectoryNodeState.Active);
    }

    [Fact]
    public async Task Owner_stops_before_another_node_may_expire_the_lease()
    {
        var (dying, mine) = await _world.StartAsync();
        var (_, other) = await _world.StartAsync();
        var lease = await _world.RegisterAsync(mine, Node(1));
        var chain = await CreateAsync(mine, "a", Placement.Implicit(1, 1), s_leased);
        await _world.UntilAsync(mine, view => lease.Proves(chain));
        await _world.UntilAsync(other, view => view.Nodes.ContainsKey(Id(1)));
        dying.Connection.Lose();
        while (lease.Proves(chain))
        {
            Assert.Equal(DirectoryNodeState.Active, other.View.Nodes[Id(1)].State);
            await _world.PassAsync(TimeSpan.FromMilliseconds(20));
        }

        Assert.Equal(DirectoryNodeState.Active, other.View.Nodes[Id(1)].State);
    }

    [Fact]
    public async Task Lease_proves_the_newest_epoch_of_a_leased_chain_alone()
    {
        var directory = await _world.StartAsync(nodes: 2);
        var lease = await _world.RegisterAsync(directory, Node(3));
        var chain = await CreateAsync(directory, "a", Placement.Implicit(1, 3), s_leased);
        var plain = await CreateAsync(directory, "b");
        await _world.UntilAsync(directory, view => view.Chains.Count == 2);
        Assert.True(lease.Proves(chain));
        Assert.False(lease.Proves(plain));
        await _world.RunAsync(directory.OpenedAsync(chain.Id, chain.Epoch, s_none));
        await _world.RunAsync(directory.TryChangeAsync(chain.Id, chain.Epoch, new ChainChange.Renew(), s_none));
        await _world.UntilAsync(directory, view => view.Chains[chain.Id].Epoch > chain.Epoch);
        Assert.False(lease.Proves(chain));
        Assert.True(lease.Proves(directory.View.Chains[chain.Id]));
    }

    [Fact]
    public async Task Released_member_has_no_proof_and_may_be_removed()
    {
        var directory = await _world.StartAsync(nodes: 2);
        var lease = await _world.RegisterAsync(directory, Node(3));
        var chain = await CreateAsync(directory, "a", Placement.Implicit(1, 3), s_leased);
        await _world.UntilAsync(directory, view => view.Chains.Count == 1);
        var remove = new ChainChange.Remove([Id(3)]);
        Assert.Contains("lease", (await _world.RunAsync(
            directory.TryChangeAsync(chain.Id, chain.Epoch, remove, s_none))).Refusal, Ordinal);
        Assert.True(await _world.RunAsync(lease.ReleaseAsync(chain, s_none)));
        Assert.False(lease.Proves(chain));
        Assert.True((await _world.RunAsync(
            directory.TryChangeAsync(chain.Id, chain.Epoch, remove, s_none))).IsRecorded);
    }

    /// <summary>C7: a member releases its lease, and its process ends before the removal. The next process knows
    /// nothing of the release and serves by its own lease, so the directory goes back on it.</summary>
    [Fact]
    public async Task Release_ends_with_the_releasing_process()
    {
        var (_, mine) = await _world.StartAsync();
        var (_, restarted) = await _world.StartAsync();
        var directory = await _world.StartAsync(nodes: 2);
        var lease = await _world.RegisterAsync(mine, Node(3));
        var chain = await CreateAsync(directory, "a", Placement.Implicit(1, 3), s_leased);
        Assert.True(await _world.RunAsync(lease.ReleaseAsync(chain, s_none)));
        var next = await _world.RegisterAsync(restarted, Node(3));
        await _world.UntilAsync(restarted, view => next.Proves(chain));
        var removal = await _world.RunAsync(directory.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Remove([Id(3)]), s_none));
        Assert.Contains("lease", removal.Refusal, Ordinal);
        Assert.True(next.Proves(chain));
    }

    /// <summary>C7: the release of a process that has ended reaches the log behind the registration of the next
    /// one.</summary>
    [Fact]
    public async Task Late_release_of_an_ended_process_has_no_effect()
    {
        var (_, mine) = await _world.StartAsync();
        var (_, restarted) = await _world.StartAsync();
        var directory = await _world.StartAsync(nodes: 2);
        var lease = await _world.RegisterAsync(mine, Node(3));
        var chain = await CreateAsync(directory, "a", Placement.Implicit(1, 3), s_leased);
        var next = await _world.RegisterAsync(restarted, Node(3));
        await _world.UntilAsync(restarted, view => next.Proves(chain));
        Assert.False(await _world.RunAsync(lease.ReleaseAsync(chain, s_none)));
        var removal = await _world.RunAsync(directory.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Remove([Id(3)]), s_none));
        Assert.Contains("lease", removal.Refusal, Ordinal);
    }

    /// <summary>C7: the lease ends, the node is removed, and registers again. The new lease proves nothing of the epoch
    /// before, at no moment.</summary>
    [Fact]
    public async Task New_lease_of_a_removed_node_proves_no_older_epoch()
    {
        var (dying, mine) = await _world.StartAsync();
        var other = await _world.StartAsync(nodes: 2);
        var lease = await _world.RegisterAsync(mine, Node(3));
        var chain = await CreateAsync(other, "a", Placement.Implicit(1, 3), s_leased);
        await _world.UntilAsync(mine, view => lease.Proves(chain));
        dying.Connection.Lose();
        await _world.UntilAsync(other, view => view.Nodes[Id(3)].State == DirectoryNodeState.Gone);
        Assert.True((await _world.RunAsync(other.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Remove([Id(3)]), s_none))).IsRecorded);
        dying.Connection.Restore();
        while (!lease.IsRegistered || mine.View.Chains[chain.Id].Epoch == chain.Epoch)
        {
            Assert.False(lease.Proves(chain));
            await _world.PassAsync(TimeSpan.FromMilliseconds(1));
        }

        Assert.False(lease.Proves(chain));
        // The node is no member of the newest epoch, which its core knows.
        Assert.True(lease.Proves(mine.View.Chains[chain.Id]));
    }

    [Fact]
    public async Task Evicted_node_registers_again_when_no_leased_chain_has_the_node()
    {
        var directory = await _world.StartAsync(nodes: 2);
        var lease = await _world.RegisterAsync(directory, Node(3));
        Assert.NotNull(await _world.RunAsync(directory.EvictAsync(Id(3), s_none)));
        var chain = await CreateAsync(directory, "a", Placement.Implicit(1, 3), s_leased);
        Assert.Null(await _world.RunAsync(directory.EvictAsync(Id(3), s_none)));
        await _world.UntilAsync(directory, view => view.Nodes[Id(3)].State == DirectoryNodeState.Gone);
        await _world.PassAsync(TimeSpan.FromSeconds(10));
        Assert.False(lease.IsRegistered);
        Assert.Contains("evicted", lease.Failure!.Message, Ordinal);
        Assert.True((await _world.RunAsync(directory.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Remove([Id(3)]), s_none))).IsRecorded);
        await _world.UntilAsync(directory, view => view.Nodes[Id(3)].State == DirectoryNodeState.Active);
        Assert.True(lease.IsRegistered);
    }

    [Fact]
    public async Task Draining_outlives_the_lease()
    {
        var (_, directory) = await _world.StartAsync();
        var lease = await _world.RegisterAsync(directory, Node(1));
        Assert.True(await _world.RunAsync(directory.SetDrainingAsync(Id(1), true, s_none)));
        await _world.UntilAsync(directory, view => view.Nodes[Id(1)].State == DirectoryNodeState.Draining);
        await _world.RunAsync(lease.DisposeAsync());
        await _world.UntilAsync(directory, view => view.Nodes[Id(1)].State == DirectoryNodeState.Gone);
        await _world.RegisterAsync(directory, Node(1));
        Assert.Equal(DirectoryNodeState.Draining, directory.View.Nodes[Id(1)].State);
        Assert.True(await _world.RunAsync(directory.SetDrainingAsync(Id(1), false, s_none)));
        await _world.UntilAsync(directory, view => view.Nodes[Id(1)].State == DirectoryNodeState.Active);
        Assert.False(await _world.RunAsync(directory.SetDrainingAsync(Id(2), true, s_none)));
    }

    [Fact]
    public async Task Node_is_forgotten_when_gone_and_no_member()
    {
        var (_, directory) = await _world.StartAsync();
        var lease = await _world.RegisterAsync(directory, Node(1));
        var chain = await CreateAsync(directory, "a", Placement.Implicit(1, 1));
        Assert.Contains("stop it", await _world.RunAsync(directory.ForgetNodeAsync(Id(1), s_none)), Ordinal);
        await _world.RunAsync(lease.DisposeAsync());
        Assert.Contains("member", await _world.RunAsync(directory.ForgetNodeAsync(Id(1), s_none)), Ordinal);
        await _world.RunAsync(directory.DropChainAsync(chain.Id, s_none));
        Assert.Null(await _world.RunAsync(directory.ForgetNodeAsync(Id(1), s_none)));
        Assert.Empty((await _world.RunAsync(directory.ReadAsync(s_none))).Nodes);
    }

    [Fact]
    public async Task Dropped_name_is_not_used_again()
    {
        var directory = await _world.StartAsync(nodes: 3);
        var chain = await CreateAsync(directory, "a");
        Assert.True((await _world.RunAsync(directory.DropChainAsync(chain.Id, s_none))).IsRecorded);
        Assert.Contains("another name", await RefusalAsync(directory, "a", Placement.Default), Ordinal);
        Assert.False((await _world.RunAsync(directory.DropChainAsync(chain.Id, s_none))).IsRecorded);
        Assert.Contains("no chain", (await _world.RunAsync(directory.TryChangeAsync(
            chain.Id, chain.Epoch, new ChainChange.Renew(), s_none))).Refusal, Ordinal);
    }

    [Fact]
    public async Task Keyspace_is_a_power_of_two_of_chains()
    {
        var directory = await _world.StartAsync(nodes: 3);
        var (a, b, c) = (await CreateAsync(directory, "a"), await CreateAsync(directory, "b"),
            await CreateAsync(directory, "c"));
        Assert.NotNull(await KeyspaceAsync(a.Id, b.Id, c.Id));
        Assert.NotNull(await KeyspaceAsync(a.Id, a.Id));
        Assert.NotNull(await KeyspaceAsync());
        Assert.NotNull(await KeyspaceAsync(ChainId.FromName("d")));
        Assert.Null(await KeyspaceAsync(b.Id, a.Id));
        Assert.Null(await KeyspaceAsync(b.Id, a.Id));
        Assert.NotNull(await KeyspaceAsync(a.Id, b.Id));
        Assert.Equal([b.Id, a.Id], (await _world.RunAsync(directory.ReadAsync(s_none))).Keyspaces["k"]);
        Assert.False((await _world.RunAsync(directory.DropChainAsync(a.Id, s_none))).IsRecorded);
        Assert.True(await _world.RunAsync(directory.DropKeyspaceAsync("k", s_none)));
        Assert.False(await _world.RunAsync(directory.DropKeyspaceAsync("k", s_none)));
        Assert.True((await _world.RunAsync(directory.DropChainAsync(a.Id, s_none))).IsRecorded);

        Task<string?> KeyspaceAsync(params ImmutableArray<ChainId> chains) =>
            _world.RunAsync(directory.CreateKeyspaceAsync("k", chains, s_none));
    }

    [Fact]
    public async Task First_outcome_of_a_transaction_counts()
    {
        var (_, one) = await _world.StartAsync();
        var (_, two) = await _world.StartAsync();
        var id = Guid.Parse("11111111-2222-3333-4444-555555555555");
        ImmutableArray<PartId> parts = [new(ChainId.FromName("a"), new ObjectVersion(7))];
        Assert.Equal(TransactionOutcome.Aborted, await _world.RunAsync(
            one.DecideAsync(id, new TransactionDecision(TransactionOutcome.Aborted, parts), s_none)));
        Assert.Equal(TransactionOutcome.Aborted, await _world.RunAsync(
            two.DecideAsync(id, new TransactionDecision(TransactionOutcome.Committed, []), s_none)));
        var kept = Assert.Single(await _world.RunAsync(two.DecisionsAsync(s_none)));
        Assert.Equal((id, TransactionOutcome.Aborted), (kept.Key, kept.Value.Outcome));
        Assert.Equal(parts, kept.Value.Parts);
        await _world.RunAsync(one.DropDecisionAsync(id, s_none));
        Assert.Empty(await _world.RunAsync(two.DecisionsAsync(s_none)));
    }

    [Fact]
    public async Task Values_that_no_node_could_read_are_never_recorded()
    {
        var directory = await _world.StartAsync(nodes: 3);
        var chain = await CreateAsync(directory, "a");
        var wild = new ChainChange.SetOptions(Placement.Implicit(1, -1), ChainOptions.Default);
        await Assert.ThrowsAsync<CorfuException>(() => _world.RunAsync(
            directory.TryChangeAsync(chain.Id, chain.Epoch, wild, s_none)));
        var unknown = ChainOptions.Default with { Reads = (EpochProof)99 };
        await Assert.ThrowsAsync<CorfuException>(() => _world.RunAsync(
            directory.CreateChainAsync("b", Placement.Default, unknown, s_none)));
        await CreateAsync(directory, "c");
    }

    [Fact]
    public async Task Renewals_change_no_view()
    {
        var directory = await _world.StartAsync(nodes: 3);
        var before = await _world.RunAsync(directory.ReadAsync(s_none));
        await _world.PassAsync(TimeSpan.FromSeconds(10));
        Assert.Same(before, await _world.RunAsync(directory.ReadAsync(s_none)));
    }

    [Fact]
    public async Task Wait_ends_with_the_caller_or_the_directory()
    {
        var (_, directory) = await _world.StartAsync();
        using var stop = new CancellationTokenSource();
        var waiting = directory.WaitAsync(directory.View, stop.Token).AsTask();
        stop.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
        var other = directory.WaitAsync(directory.View, s_none).AsTask();
        await _world.RunAsync(directory.DisposeAsync());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => other);
    }

    private const StringComparison Ordinal = StringComparison.Ordinal;

    private async Task<ChainConfig> CreateAsync(TangoChainDirectory directory, string name,
        Placement? placement = null, ChainOptions? options = null)
    {
        var outcome = await _world.RunAsync(directory.CreateChainAsync(
            name, placement ?? Placement.Default, options ?? ChainOptions.Default, s_none));
        Assert.Null(outcome.Refusal);
        return outcome.Config!;
    }

    private async Task<string?> RefusalAsync(TangoChainDirectory directory, string name, Placement placement) =>
        (await _world.RunAsync(directory.CreateChainAsync(name, placement, ChainOptions.Default, s_none))).Refusal;

    private async Task<ChainConfig> NewestAsync(TangoChainDirectory directory, string name) =>
        (await _world.RunAsync(directory.ReadAsync(s_none))).Chains[ChainId.FromName(name)];
}
