using Corfu.Orleans.Storage;
using Corfu.Orleans.Tests.Support;
using Orleans;
using Orleans.Runtime;
using Tango;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

public sealed class MemoryGrainStorageTests() : GrainStorageContract(keepStatesInLog: false);

public sealed class LogGrainStorageTests() : GrainStorageContract(keepStatesInLog: true);

/// <summary>States that stay in the log and would keep it from being trimmed.</summary>
public sealed class StateIndexTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task Old_states_are_written_again_once_and_keep_their_etags()
    {
        await using var silo = new TestSilo(_log, storage: static options => options.KeepStatesInLog = true);
        var index = await silo.Runtime.OpenAsync<StateIndex>("index", OpenMode.Create);
        var (old, replaced, etag) = (new byte[] { 1, 2, 3 }, new byte[] { 4 }, Guid.NewGuid());
        Assert.True((await index.WriteAsync("old", old, Guid.Empty, etag)).IsDone);
        Assert.True((await index.WriteAsync("replaced", old, Guid.Empty, etag)).IsDone);
        var border = await _log.TailAsync();
        Assert.True((await index.WriteAsync("replaced", replaced, etag, Guid.NewGuid())).IsDone);

        Assert.Equal(1, await index.CompactAsync(border, CancellationToken.None));

        Assert.Equal(0, await index.CompactAsync(border, CancellationToken.None));
        var found = await index.FindAsync("old");
        Assert.Equal<byte>(old, found!.Bytes);
        Assert.Equal(etag, found.Etag);
        Assert.Equal<byte>(replaced, (await index.FindAsync("replaced"))!.Bytes);
    }

    [Fact]
    public async Task The_other_choice_for_states_that_are_stored_is_refused()
    {
        var grain = GrainId.Create("cart", "one");
        await using var first = new TestSilo(_log);
        await first.Storage.WriteStateAsync("cart", grain, new GrainState<CartState>(new CartState()));
        await using var other = new TestSilo(_log, storage: static options => options.KeepStatesInLog = true);

        var refusal = await Assert.ThrowsAsync<CorfuOrleansException>(
            () => other.Storage.ReadStateAsync("cart", grain, new GrainState<CartState>(new CartState())));

        Assert.IsType<TangoDirectoryException>(refusal.InnerException);
    }
}
