using Corfu.Orleans.Storage;
using Corfu.Orleans.Tests.Support;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

[GenerateSerializer]
public sealed record CartState
{
    [Id(0)]
    public string Text { get; set; } = "new";

    [Id(1)]
    public int Count { get; set; }
}

/// <summary>Orleans' expectations of a grain storage, a clause each. Two silos share the log.</summary>
public abstract class GrainStorageContract : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();
    private readonly bool _keepStatesInLog;
    private readonly TestSilo _first;
    private readonly TestSilo _second;
    private readonly GrainId _grain = GrainId.Create("cart", "one");

    protected GrainStorageContract(bool keepStatesInLog)
    {
        _keepStatesInLog = keepStatesInLog;
        _first = NewSilo();
        _second = NewSilo();
    }

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task A_state_that_was_never_written_is_a_new_one_without_an_etag()
    {
        var read = await ReadAsync(_first);

        Assert.Equal(new CartState(), read.State);
        Assert.False(read.RecordExists);
        Assert.Null(read.ETag);
    }

    [Theory]
    [InlineData("")]
    [InlineData("Привет, мир")]
    [InlineData("\0 / \\ # ?")]
    public async Task State_is_read_by_every_silo_as_written(string text)
    {
        var written = new GrainState<CartState>(new CartState { Text = text, Count = -5 });
        await _first.Storage.WriteStateAsync("cart", _grain, written);
        Assert.True(written.RecordExists);
        Assert.NotNull(written.ETag);

        var read = await ReadAsync(_second);

        Assert.Equal(written.State, read.State);
        Assert.Equal(written.ETag, read.ETag);
        Assert.True(read.RecordExists);
    }

    [Fact]
    public async Task Every_write_has_a_new_etag_even_of_the_same_value()
    {
        var state = await WrittenAsync();
        var first = state.ETag;

        await _first.Storage.WriteStateAsync("cart", _grain, state);

        Assert.NotEqual(first, state.ETag);
    }

    [Fact]
    public async Task A_write_without_an_etag_is_refused_where_a_state_is()
    {
        await WrittenAsync();

        await RefusedAsync(() => _second.Storage.WriteStateAsync("cart", _grain, new GrainState<CartState>(new())));
    }

    [Fact]
    public async Task Write_with_an_old_etag_is_refused_without_effect()
    {
        var newest = await WrittenAsync();
        var old = Copy(newest);
        newest.State!.Text = "newest";
        await _first.Storage.WriteStateAsync("cart", _grain, newest);
        old.State = new CartState { Text = "old" };

        await RefusedAsync(() => _second.Storage.WriteStateAsync("cart", _grain, old));

        var read = await ReadAsync(_second);
        Assert.Equal("newest", read.State!.Text);
        Assert.Equal(newest.ETag, read.ETag);
    }

    [Theory]
    [InlineData("7")]
    [InlineData("00000000000000000000000000000000")]
    [InlineData("0123456789abcdef0123456789abcdef")]
    public async Task An_etag_that_was_never_given_is_refused(string etag)
    {
        await WrittenAsync();

        await RefusedAsync(() => _first.Storage.WriteStateAsync("cart", _grain,
            new GrainState<CartState>(new(), etag)));
        await RefusedAsync(() => _first.Storage.ClearStateAsync("cart", _grain,
            new GrainState<CartState>(new(), etag)));
        await RefusedAsync(() => _first.Storage.WriteStateAsync("cart", GrainId.Create("cart", "none"),
            new GrainState<CartState>(new(), etag)));
    }

    [Fact]
    public async Task A_refusal_names_both_etags()
    {
        var stored = await WrittenAsync();

        var refusal = await Assert.ThrowsAsync<InconsistentStateException>(
            () => _second.Storage.WriteStateAsync("cart", _grain, new GrainState<CartState>(new())));

        Assert.Equal(stored.ETag, refusal.StoredEtag);
        Assert.Equal("none", refusal.CurrentEtag);
    }

    [Fact]
    public async Task Cleared_state_is_gone_with_the_etag()
    {
        var state = await WrittenAsync();

        await _first.Storage.ClearStateAsync("cart", _grain, state);

        Assert.Equal(new CartState(), state.State);
        Assert.False(state.RecordExists);
        Assert.Null(state.ETag);
        Assert.False((await ReadAsync(_second)).RecordExists);
    }

    [Fact]
    public async Task State_can_be_written_again_after_being_cleared()
    {
        var state = await WrittenAsync();
        await _first.Storage.ClearStateAsync("cart", _grain, state);

        await _first.Storage.WriteStateAsync("cart", _grain, state);

        Assert.True((await ReadAsync(_second)).RecordExists);
    }

    [Fact]
    public async Task Clearing_twice_or_before_any_write_is_no_error()
    {
        var state = new GrainState<CartState>(new CartState { Text = "stale" }) { RecordExists = true };

        await _first.Storage.ClearStateAsync("cart", _grain, state);
        await _first.Storage.ClearStateAsync("cart", _grain, state);

        Assert.Equal(new CartState(), state.State);
        Assert.False(state.RecordExists);
    }

    [Fact]
    public async Task A_clear_with_an_old_etag_is_refused_and_the_state_stays()
    {
        var newest = await WrittenAsync();
        var old = Copy(newest);
        await _first.Storage.WriteStateAsync("cart", _grain, newest);

        await RefusedAsync(() => _second.Storage.ClearStateAsync("cart", _grain, old));

        Assert.Equal(newest.ETag, (await ReadAsync(_second)).ETag);
    }

    [Fact]
    public async Task States_of_one_grain_and_grains_with_similar_names_stay_apart()
    {
        (string State, GrainId Grain)[] all =
        [
            ("a", GrainId.Create("b", "c")), ("a/b", GrainId.Create("b", "c")), ("a", GrainId.Create("b", "b/c")),
            ("a", GrainId.Create("b", "C")),
        ];
        for (var i = 0; i < all.Length; i++)
        {
            await _first.Storage.WriteStateAsync(
                all[i].State, all[i].Grain, new GrainState<CartState>(new CartState { Count = i + 1 }));
        }

        for (var i = 0; i < all.Length; i++)
        {
            var read = new GrainState<CartState>(new());
            await _second.Storage.ReadStateAsync(all[i].State, all[i].Grain, read);
            Assert.Equal(i + 1, read.State!.Count);
        }
    }

    [Fact]
    public async Task A_grain_key_that_is_not_text_is_refused()
    {
        var grain = GrainId.Create(GrainType.Create("cart"), new IdSpan([0xFF, 0xFE]));

        await Assert.ThrowsAsync<CorfuOrleansException>(
            () => _first.Storage.ReadStateAsync("cart", grain, new GrainState<CartState>(new())));
    }

    [Fact]
    public async Task Simultaneous_writes_with_one_etag_take_effect_once_each_time()
    {
        for (var round = 0; round < 20; round++)
        {
            var seen = (await ReadAsync(_first)).ETag;
            var outcomes = await Task.WhenAll(Enumerable.Range(0, 8).Select(async i =>
            {
                var state = new GrainState<CartState>(new CartState { Count = (round * 8) + i }, seen);
                try
                {
                    await (i % 2 == 0 ? _first : _second).Storage.WriteStateAsync("cart", _grain, state);
                    return (int?)state.State!.Count;
                }
                catch (InconsistentStateException)
                {
                    return null;
                }
            }));

            var winner = Assert.Single(outcomes, static outcome => outcome is not null);
            Assert.Equal(winner, (await ReadAsync(_second)).State!.Count);
        }
    }

    [Fact]
    public async Task No_increment_is_lost_between_silos_that_retry()
    {
        await Task.WhenAll(Enumerable.Range(0, 8).Select(async i =>
        {
            var silo = i % 2 == 0 ? _first : _second;
            for (var added = 0; added < 10;)
            {
                var state = await ReadAsync(silo);
                state.State!.Count++;
                try
                {
                    await silo.Storage.WriteStateAsync("cart", _grain, state);
                    added++;
                }
                catch (InconsistentStateException)
                {
                    // Another writer was first.
                }
            }
        }));

        Assert.Equal(80, (await ReadAsync(_first)).State!.Count);
    }

    [Fact]
    public async Task A_state_above_the_limit_is_refused_by_name_and_the_next_one_is_written()
    {
        await using var small = NewSilo(maxStateBytes: 100);
        var state = new GrainState<CartState>(new CartState { Text = new string('x', 200) });

        var refusal = await Assert.ThrowsAsync<CorfuOrleansException>(
            () => small.Storage.WriteStateAsync("cart", _grain, state));
        Assert.Contains("MaxStateBytes", refusal.Message, StringComparison.Ordinal);

        state.State!.Text = "small";
        await small.Storage.WriteStateAsync("cart", _grain, state);
    }

    [Fact]
    public async Task A_write_in_doubt_that_took_effect_is_acknowledged()
    {
        var state = await WrittenAsync();
        state.State!.Text = "doubtful";
        _first.Connection.LeaveNextInDoubt(isWritten: true);

        await _first.Storage.WriteStateAsync("cart", _grain, state);

        var read = await ReadAsync(_second);
        Assert.Equal("doubtful", read.State!.Text);
        Assert.Equal(state.ETag, read.ETag);
    }

    [Fact]
    public async Task A_write_in_doubt_that_is_not_seen_is_reported_as_unknown()
    {
        var state = await WrittenAsync();
        var etag = state.ETag;
        _first.Connection.LeaveNextInDoubt(isWritten: false);

        await Assert.ThrowsAsync<CorfuOutcomeUnknownException>(
            () => _first.Storage.WriteStateAsync("cart", _grain, state));

        Assert.Equal(etag, state.ETag);
        await _first.Storage.WriteStateAsync("cart", _grain, state);
    }

    [Fact]
    public async Task A_write_in_doubt_that_another_one_was_ahead_of_is_refused()
    {
        var state = await WrittenAsync();
        var other = Copy(state);
        _first.Connection.BeforeNextAppend(
            async () => await _second.Storage.WriteStateAsync("cart", _grain, other));
        _first.Connection.LeaveNextInDoubt(isWritten: false);

        await RefusedAsync(() => _first.Storage.WriteStateAsync("cart", _grain, state));

        Assert.Equal(other.ETag, (await ReadAsync(_first)).ETag);
    }

    [Theory]
    [InlineData(IStates.PartBytes)]
    [InlineData(1_600_000)]
    [InlineData(4_000_000)]
    public async Task A_large_state_is_written_read_replaced_and_cleared_as_a_whole(int length)
    {
        await using var large = NewSilo(maxStateBytes: 5_000_000);
        await using var other = NewSilo(maxStateBytes: 5_000_000);
        var text = string.Concat(Enumerable.Range(0, length / 8).Select(static i => $"{i,8}"));
        var written = new GrainState<CartState>(new CartState { Text = text });
        await large.Storage.WriteStateAsync("cart", _grain, written);
        var read = await ReadAsync(other);
        Assert.Equal((text, written.ETag), (read.State!.Text, read.ETag));

        var stale = Copy(read);
        read.State.Text = text + text[..8];
        await other.Storage.WriteStateAsync("cart", _grain, read);
        await RefusedAsync(() => large.Storage.WriteStateAsync("cart", _grain, stale));
        Assert.Equal(text + text[..8], (await ReadAsync(large)).State!.Text);

        read.State.Text = "small again";
        await other.Storage.WriteStateAsync("cart", _grain, read);
        Assert.Equal("small again", (await ReadAsync(large)).State!.Text);
        await other.Storage.ClearStateAsync("cart", _grain, read);
        Assert.False((await ReadAsync(large)).RecordExists);
    }

    [Fact]
    public async Task Simultaneous_large_writes_with_one_etag_leave_one_whole_state()
    {
        await using var one = NewSilo(maxStateBytes: 5_000_000);
        await using var other = NewSilo(maxStateBytes: 5_000_000);
        var seen = (await WrittenAsync()).ETag;
        var writing = Task.WhenAll(Enumerable.Range(0, 4).Select(async i =>
        {
            var text = new string((char)('a' + i), 1_200_000);
            try
            {
                await (i % 2 == 0 ? one : other).Storage.WriteStateAsync(
                    "cart", _grain, new GrainState<CartState>(new CartState { Text = text }, seen));
                return text;
            }
            catch (InconsistentStateException)
            {
                return null;
            }
        }));
        // A transaction that aborts waits a little before it tries again.
        await _log.Time.AdvanceUntilAsync(writing);

        var winner = Assert.Single(await writing, static outcome => outcome is not null);
        Assert.Equal(winner, (await ReadAsync(_first)).State!.Text);
    }

    [Fact]
    public async Task A_log_that_cannot_be_reached_is_an_error_and_the_state_is_kept()
    {
        var state = await WrittenAsync();
        var etag = state.ETag;
        _first.Connection.Lose();

        await Assert.ThrowsAsync<CorfuOrleansException>(
            () => _first.Storage.ReadStateAsync("cart", _grain, new GrainState<CartState>(new())));
        await Assert.ThrowsAnyAsync<CorfuOrleansException>(
            () => _first.Storage.WriteStateAsync("cart", _grain, state));

        _first.Connection.Restore();
        Assert.Equal(etag, (await ReadAsync(_first)).ETag);
    }

    [Fact]
    public async Task States_belong_to_the_service_and_outlive_clusters()
    {
        await WrittenAsync();
        await using var deployedAnew = NewSilo(clusterId: "next");
        await using var stranger = NewSilo(serviceId: "another");

        Assert.True((await ReadAsync(deployedAnew)).RecordExists);
        Assert.False((await ReadAsync(stranger)).RecordExists);
    }

    private TestSilo NewSilo(
        string clusterId = "cluster", string serviceId = "service", int maxStateBytes = 1000) =>
        new(_log, clusterId, serviceId, options =>
        {
            options.KeepStatesInLog = _keepStatesInLog;
            options.MaxStateBytes = maxStateBytes;
        });

    private async Task<GrainState<CartState>> WrittenAsync()
    {
        var state = new GrainState<CartState>(new CartState { Text = "first" });
        await _first.Storage.WriteStateAsync("cart", _grain, state);
        return state;
    }

    private async Task<GrainState<CartState>> ReadAsync(TestSilo silo)
    {
        var state = new GrainState<CartState>(new CartState { Text = "not read" });
        await silo.Storage.ReadStateAsync("cart", _grain, state);
        return state;
    }

    private static GrainState<CartState> Copy(GrainState<CartState> state) =>
        new(state.State! with { }, state.ETag) { RecordExists = state.RecordExists };

    private static Task<InconsistentStateException> RefusedAsync(Func<Task> call) =>
        Assert.ThrowsAsync<InconsistentStateException>(call);
}
