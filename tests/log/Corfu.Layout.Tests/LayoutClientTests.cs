using System.Collections.Immutable;
using Corfu.Client.Layout;
using Corfu.Protocol;

namespace Corfu.Layout.Tests;

public sealed class LayoutClientTests
{
    private readonly TestNetwork _network = new(1);

    private LayoutClient Client(int attempts = 12, params ImmutableArray<NodeEndpoint> endpoints) =>
        new(
            _network,
            SystemEntropy.Instance,
            TimeProvider.System,
            new LayoutClientOptions
            {
                MaxAttempts = attempts,
                FirstBackOff = TimeSpan.FromMilliseconds(1),
                MaxBackOff = TimeSpan.FromMilliseconds(10),
                Endpoints = endpoints
            });

    private async Task<Projection> StartAsync()
    {
        await _network.AddAsync(0, 1, 2);
        return await Client().ProposeFirstAsync(Setup.Projection(1));
    }

    private void Down(params int[] acceptors)
    {
        _network.Down.Clear();
        foreach (var acceptor in acceptors) _network.Down.Add(Setup.Acceptor(acceptor).Id);
    }

    [Fact]
    public async Task Layout_without_a_proposal_has_no_projection()
    {
        await _network.AddAsync(0, 1, 2);
        Assert.Null(await Client().ReadLatestAsync(Setup.Acceptors(0, 1, 2)));
    }

    [Fact]
    public async Task Proposed_projection_is_read_by_every_client_with_any_minority_down()
    {
        var first = await StartAsync();
        var second = Setup.Projection(2);
        Down(2);
        Assert.Equal(second, await Client().ProposeAsync(first, second));
        for (var down = 0; down < 2; down++)
        {
            Down(down);
            Assert.Equal(second, await Client().ReadLatestAsync(first.Acceptors));
        }
    }

    [Fact]
    public async Task Read_without_a_majority_fails()
    {
        var first = await StartAsync();
        Down(0, 2);
        await Assert.ThrowsAsync<LayoutUnavailableException>(
            () => Client(attempts: 3).ReadLatestAsync(first.Acceptors));
        await Assert.ThrowsAsync<LayoutUnavailableException>(
            () => Client(attempts: 3).ProposeAsync(first, Setup.Projection(2)));
        await Assert.ThrowsAsync<LayoutUnavailableException>(() => Client(attempts: 3).HandOverAsync(first));
        Assert.False(await Client().HasNoSuccessorAsync(first));
    }

    /// <summary>Found by the simulator: a client that slept while all acceptors were replaced asked identities that
    /// were gone for ever.</summary>
    [Theory]
    [InlineData(1, false)]
    [InlineData(7, true)]
    public async Task A_client_that_slept_while_every_acceptor_was_replaced_finds_the_new_ones(int endpoint,
        bool isTold)
    {
        var first = await StartAsync();
        await _network.AddAsync(3, 4, 5);
        var second = Setup.Projection(2, "machines formatted anew", 3, 4, 5);
        await Client().ProposeAsync(first, second);
        await Client().HandOverAsync(second);
        Down(0, 1, 2);
        await Assert.ThrowsAsync<LayoutUnavailableException>(
            () => Client(attempts: 3).ReadLatestAsync(first.Acceptors));

        // A new acceptor answers where an old one did, or at an endpoint of the connection string.
        var place = Setup.Acceptor(endpoint).Endpoint;
        _network.Listening[place] = Setup.Acceptor(4).Id;
        Assert.Equal(second, await (isTold ? Client(3, place) : Client(3)).ReadLatestAsync(first.Acceptors));
    }

    [Fact]
    public async Task The_second_proposer_gets_the_first_ones_value()
    {
        var first = await StartAsync();
        var mine = Setup.Projection(2, "mine");
        await Client().ProposeAsync(first, mine);
        Assert.Equal(mine, await Client().ProposeAsync(first, Setup.Projection(2, "yours")));
    }

    /// <summary>R12: a lone accepted value proves nothing, and must not be lost either.</summary>
    [Fact]
    public async Task Reader_runs_an_unfinished_ballot_to_the_end()
    {
        var first = await StartAsync();
        var half = Setup.Projection(2, "half");
        _network.Allow = (to, request) => request is not AcceptRequest || to == Setup.Acceptor(0);
        await Assert.ThrowsAsync<LayoutUnavailableException>(() => Client(attempts: 1).ProposeAsync(first, half));
        _network.Allow = null;

        // A majority with acceptor 0 knows the value, so a reader finishes it; from then on no reader may get another.
        Down(1);
        Assert.Equal(half, await Client().ReadLatestAsync(first.Acceptors));
        Down(0);
        Assert.Equal(half, await Client().ReadLatestAsync(first.Acceptors));
        Assert.Equal(half, await Client().ProposeAsync(first, Setup.Projection(2, "other")));
    }

    [Fact]
    public async Task A_value_accepted_only_by_a_silent_acceptor_loses_to_the_next_proposal()
    {
        var first = await StartAsync();
        _network.Allow = (to, request) => request is not AcceptRequest || to == Setup.Acceptor(0);
        await Assert.ThrowsAsync<LayoutUnavailableException>(
            () => Client(attempts: 1).ProposeAsync(first, Setup.Projection(2, "lost")));
        _network.Allow = null;
        Down(0);
        Assert.Equal(first, await Client().ReadLatestAsync(first.Acceptors));
        var won = Setup.Projection(2, "won");
        Assert.Equal(won, await Client().ProposeAsync(first, won));
        Down(1);
        Assert.Equal(won, await Client().ReadLatestAsync(first.Acceptors));
    }

    [Fact]
    public async Task Decision_that_no_acceptor_was_told_of_is_found()
    {
        var first = await StartAsync();
        var second = Setup.Projection(2);
        _network.Allow = (_, request) => request is not DecidedRequest;
        Assert.Equal(second, await Client().ProposeAsync(first, second));
        for (var down = 0; down < 3; down++)
        {
            Down(down);
            Assert.Equal(second, await Client().ReadLatestAsync(first.Acceptors));
        }
    }

    [Fact]
    public async Task A_lagging_client_jumps()
    {
        var projection = await StartAsync();
        for (var epoch = 2; epoch <= 10; epoch++)
            projection = await Client().ProposeAsync(projection, Setup.Projection(epoch));
        var before = _network.Requests;
        Assert.Equal(new Epoch(10), (await Client().ReadLatestAsync(Setup.Acceptors(0)))!.Epoch);
        Assert.InRange(_network.Requests - before, 1, 12);
    }

    /// <summary>R12: the successors hold the decided state before the old ones retire; a client that knows only old
    /// ones finds its way.</summary>
    [Fact]
    public async Task Acceptors_change_and_the_old_ones_retire()
    {
        var first = await StartAsync();
        await _network.AddAsync(3, 4, 5);
        var second = await Client().ProposeAsync(first, Setup.Projection(2, "moved", 3, 4, 5));
        await Client().HandOverAsync(second);
        var third = await Client().ProposeAsync(second, Setup.Projection(3, "after", 3, 4, 5));
        Assert.Equal(third, await Client().ReadLatestAsync(first.Acceptors));
        Down(0, 1, 2);
        Assert.Equal(third, await Client().ReadLatestAsync(second.Acceptors));
    }

    [Fact]
    public async Task A_hand_over_cut_short_is_finished_by_the_next_reader()
    {
        var first = await StartAsync();
        await _network.AddAsync(3, 4, 5);
        _network.Allow = (to, _) => to.Endpoint.Port <= 3;
        var second = await Client().ProposeAsync(first, Setup.Projection(2, "moved", 3, 4, 5));
        _network.Allow = null;
        Assert.Equal(second, await Client().ReadLatestAsync(first.Acceptors));
        Down(0, 1, 2, 5);
        Assert.Equal(second, await Client().ReadLatestAsync(second.Acceptors));
    }

    [Fact]
    public async Task Acceptors_report_no_successor_until_one_acceptor_has_accepted_one()
    {
        var first = await StartAsync();
        Down(2);
        Assert.True(await Client().HasNoSuccessorAsync(first));
        _network.Allow = (to, request) => request is not AcceptRequest || to == Setup.Acceptor(0);
        await Assert.ThrowsAsync<LayoutUnavailableException>(
            () => Client(attempts: 1).ProposeAsync(first, Setup.Projection(2)));
        _network.Allow = null;
        Assert.False(await Client().HasNoSuccessorAsync(first));
        Down();
        await Client().ProposeAsync(first, Setup.Projection(2));
        Assert.False(await Client().HasNoSuccessorAsync(first));
    }

    [Fact]
    public async Task History_is_read_back_and_unknown_slots_are_null()
    {
        var first = await StartAsync();
        var second = await Client().ProposeAsync(first, Setup.Projection(2));
        Assert.Equal(first, await Client().ReadHistoryAsync(second, new Epoch(1)));
        Assert.Null(await Client().ReadHistoryAsync(second, new Epoch(7)));
    }

    [Fact]
    public async Task Proposal_must_follow_the_predecessor()
    {
        var first = await StartAsync();
        await Assert.ThrowsAsync<ArgumentException>(() => Client().ProposeAsync(first, Setup.Projection(3)));
        await Assert.ThrowsAsync<ArgumentException>(() => Client().ProposeFirstAsync(Setup.Projection(3)));
    }

    /// <summary>Rival proposers and readers, lossy network, acceptors that crash: one decision per epoch, and no reader
    /// goes back.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task Rivals_agree_whatever_is_lost(int seed)
    {
        var network = new TestNetwork(seed);
        await network.AddAsync(0, 1, 2);
        var first = await NewClient().ProposeFirstAsync(Setup.Projection(1));
        network.Loss = 0.1;
        var decided = new System.Collections.Concurrent.ConcurrentDictionary<long, Projection>();
        var rivals = Enumerable.Range(0, 4).Select(rival => Task.Run(() => RivalAsync(rival))).ToArray();
        for (var i = 0; i < 30; i++)
        {
            await network.CrashAsync(i % 3);
            for (var j = 0; j < 50; j++) await Task.Yield();
        }

        await Task.WhenAll(rivals);
        Assert.True(decided.Count >= 10);
        return;

        LayoutClient NewClient() => new(
            network,
            SystemEntropy.Instance,
            TimeProvider.System,
            new LayoutClientOptions
            {
                MaxAttempts = 100,
                RoundTimeout = TimeSpan.FromMilliseconds(50),
                FirstBackOff = TimeSpan.FromMilliseconds(1),
                MaxBackOff = TimeSpan.FromMilliseconds(8)
            });

        async Task RivalAsync(int rival)
        {
            var client = NewClient();
            var current = first;
            for (var i = 0; i < 10; i++)
            {
                var next = await client.ProposeAsync(current, Setup.Projection(current.Epoch.Value + 1, $"{rival}"));
                Agree(next);
                var read = (await client.ReadLatestAsync(first.Acceptors))!;
                Assert.True(read.Epoch >= next.Epoch);
                Agree(read);
                current = read;
            }
        }

        void Agree(Projection projection) =>
            Assert.Equal(decided.GetOrAdd(projection.Epoch.Value, projection), projection);
    }
}
