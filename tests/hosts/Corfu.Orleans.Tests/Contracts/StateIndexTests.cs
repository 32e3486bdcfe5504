using Corfu.Extensions;
using Corfu.Orleans.Storage;
using Corfu.Orleans.Tests.Support;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Runtime;
using Tango;
using Tango.Collections;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

/// <summary>States that stay in the log and would keep it from being trimmed.</summary>
public sealed class StateIndexTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();
    private readonly GrainId _grain = GrainId.Create("cart", "one");

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task Old_states_are_written_again_once_and_keep_the_etags()
    {
        var index = await OpenAsync();
        var (old, replaced, etag) = (new byte[] { 1, 2, 3 }, new byte[] { 4 }, Guid.NewGuid());
        Assert.True((await index.WriteAsync("old", old, Guid.Empty, etag)).IsDone);
        Assert.True((await index.WriteAsync("replaced", old, Guid.Empty, etag)).IsDone);
        var border = await _log.TailAsync();
        Assert.True((await index.WriteAsync("replaced", replaced, etag, Guid.NewGuid())).IsDone);

        Assert.Equal(1, (await index.CompactAsync(border, CancellationToken.None)).Moved);

        Assert.Equal(0, (await index.CompactAsync(border, CancellationToken.None)).Moved);
        var found = await index.FindAsync("old");
        Assert.Equal<byte>(old, found!.Bytes);
        Assert.Equal(etag, found.Etag);
        Assert.Equal<byte>(replaced, (await index.FindAsync("replaced"))!.Bytes);
    }

    [Fact]
    public async Task Large_old_states_are_written_again_whole_and_the_log_is_needed_only_from_there()
    {
        var index = await OpenAsync();
        var large = new byte[(3 * IStates.PartBytes) + 7];
        Random.Shared.NextBytes(large);
        Assert.True((await index.WriteAsync("large", large, Guid.Empty, Guid.NewGuid())).IsDone);
        var border = await _log.TailAsync();

        Assert.Equal(1, (await index.CompactAsync(border, CancellationToken.None)).Moved);

        Assert.False(await index.HasBelowAsync(border.Offset));
        await _log.TrimBelowAsync(border);
        Assert.Equal<byte>(large, (await index.FindAsync("large"))!.Bytes);
    }

    [Fact]
    public async Task A_state_that_cannot_be_read_keeps_no_other_from_being_written_again()
    {
        var index = await OpenAsync();
        for (var i = 0; i < 200; i++) await index.WriteAsync($"{i}", new byte[] { 1 }, Guid.Empty, Guid.NewGuid());
        var lost = await _log.TailAsync();
        await index.WriteAsync("lost", new byte[] { 1 }, Guid.Empty, Guid.NewGuid());
        var border = await _log.TailAsync();
        await _log.Log.TrimAsync(lost);

        var (moved, failed, failure) = await index.CompactAsync(border, CancellationToken.None);

        Assert.Equal((200, 1), (moved, failed));
        Assert.IsType<TangoTrimmedException>(failure);
    }

    [Fact]
    public async Task Old_states_are_written_again_by_one_silo_at_a_time()
    {
        await using var silo = new TestSilo(_log, storage: static options => options.MaxLogSpan = 1);
        for (var i = 0; i < 9; i++) await silo.Storage.WriteStateAsync("cart", _grain, await ReadAsync(silo));
        await silo.Storage.WriteStateAsync(
            "cart", GrainId.Create("cart", "other"), new GrainState<CartState>(new CartState()));
        for (var i = 0; i < 9; i++) await silo.Storage.WriteStateAsync("cart", _grain, await ReadAsync(silo));
        var compactor = ((CorfuGrainStorage)silo.Storage).NewCompactor();
        var turns = await _log.Start().Runtime.OpenAsync<TangoLock>(
            "orleans/service/state/states/compaction", OpenMode.Create);
        await using (await turns.TryAcquireAsync(TimeSpan.FromHours(1)))
            Assert.Equal(0, await compactor.CompactAsync(CancellationToken.None));

        Assert.Equal(1, await compactor.CompactAsync(CancellationToken.None));
        Assert.Equal(0, await turns.CountAsync());
    }

    [Fact]
    public async Task An_exception_of_any_kind_does_not_end_the_search_for_old_states()
    {
        var tango = new FailingTango();
        await using var services = new ServiceCollection().AddSingleton<ITangoHost>(tango).BuildServiceProvider();
        var runtime = new CorfuOrleansRuntime(services, Options.Create(new CorfuOrleansOptions()), _log.Time,
            NullLogger<CorfuOrleansRuntime>.Instance);
        var compactor = new StateCompactor(
            new SharedObject<StateIndex>(runtime, "index"), new SharedObject<TangoLock>(runtime, "turns"), runtime,
            new CorfuGrainStorageOptions(), _log.Time, NullLogger.Instance);

        compactor.Start();
        await _log.Time.AdvanceUntilAsync(tango.CalledThreeTimes, TimeSpan.FromSeconds(10));

        await compactor.StopAsync();
    }

    [Fact]
    public async Task The_other_choice_for_states_that_are_stored_is_refused()
    {
        await using var first = new TestSilo(_log);
        await first.Storage.WriteStateAsync("cart", _grain, new GrainState<CartState>(new CartState()));
        await using var other = new TestSilo(_log, storage: static options => options.KeepStatesInLog = false);

        var refusal = await Assert.ThrowsAsync<CorfuOrleansException>(() => ReadAsync(other));

        Assert.IsType<TangoDirectoryException>(refusal.InnerException);
    }

    private ValueTask<StateIndex> OpenAsync() => _log.Start().Runtime.OpenAsync<StateIndex>("index", OpenMode.Create);

    private async Task<GrainState<CartState>> ReadAsync(TestSilo silo)
    {
        var state = new GrainState<CartState>(new CartState());
        await silo.Storage.ReadStateAsync("cart", _grain, state);
        return state;
    }

    private sealed class FailingTango : ITangoHost
    {
        private readonly TaskCompletionSource _calledThreeTimes = new();
        private int _calls;

        public Task CalledThreeTimes => _calledThreeTimes.Task;

        public Task<TangoRuntime> GetRuntimeAsync(CancellationToken cancellationToken = default)
        {
            if (Interlocked.Increment(ref _calls) == 3) _calledThreeTimes.SetResult();
            throw new InvalidOperationException("Of no kind that the providers know.");
        }
    }
}
