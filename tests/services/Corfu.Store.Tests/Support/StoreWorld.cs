using System.Text;
using Corfu.Store.Index;
using Tango.Testing;

namespace Corfu.Store.Tests.Support;

/// <summary>Processes that share a log in memory and its store.</summary>
internal sealed class StoreWorld(InMemoryLogOptions? options = null, TangoOptions? tango = null) : IAsyncDisposable
{
    public TangoTestHost Host { get; } = new(options);

    public InMemoryCorfuLog Log => Host.Log;

    // Checkpoints are the test's alone.
    public TestProcess Start() => Host.Start((tango ?? new TangoOptions()) with { Checkpoints = null });

    /// <summary>A store in a process of its own.</summary>
    public Task<CorfuStore> OpenAsync(StoreOptions? store = null) => OpenAsync(Start(), store);

    public async Task<CorfuStore> OpenAsync(TestProcess process, StoreOptions? store = null, long minRevision = 0) =>
        await CorfuStore.OpenAsync(process.Connection, process.Runtime,
            options: (store ?? new StoreOptions()) with { Time = Host.Time }, minRevision: minRevision);

    /// <summary>A store whose values go through a log of the test's; its index is that of the process.</summary>
    public async Task<CorfuStore> OpenAsync(TestProcess process, ICorfuLog log, StoreOptions? store = null) =>
        await CorfuStore.OpenAsync(
            log, process.Runtime, options: (store ?? new StoreOptions()) with { Time = Host.Time });

    /// <summary>Makes checkpoints, and trims the log as far as its claims allow.</summary>
    /// <returns>Everything below is trimmed.</returns>
    public async Task<LogPosition> TrimAsync(TestProcess process)
    {
        var index = await process.Runtime.OpenAsync<StoreIndex>("store");
        for (var i = 0; i < 3; i++)
        {
            await process.Runtime.Checkpoints.WriteDirectoryAsync();
            await process.Runtime.Checkpoints.WriteAsync(index);
        }

        return await process.Runtime.Log.TrimAsync();
    }

    public ValueTask DisposeAsync() => Host.DisposeAsync();

    public static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    public static string Text(ReadOnlyMemory<byte> value) => Encoding.UTF8.GetString(value.Span);

    public static string? Text(StoreEntry? entry) => entry is null ? null : Text(entry.Value);

    /// <summary>As <c>a=1 b=2</c>.</summary>
    public static string Text(IEnumerable<StoreEntry> entries) =>
        string.Join(' ', entries.Select(static entry => $"{entry.Key}={Text(entry.Value)}"));

    public static string Text(StoreEntries entries) => Text(entries.Entries);

    /// <summary>As <c>2:a=1,b- 3:a=2</c>.</summary>
    public static string Text(IEnumerable<StoreChanges> changes) => string.Join(' ', changes.Select(static one =>
        $"{one.Revision}:{string.Join(',', one.Changes.Select(static change => change.IsDeletion
            ? $"{change.Key}-"
            : $"{change.Key}={Text(change.Entry.Value)}"))}"));

    /// <summary>The first so many that a watch tells, or up to where it tells its progress.</summary>
    public static async Task<List<StoreChanges>> TakeAsync(IAsyncEnumerable<StoreChanges> watch, int count)
    {
        var told = new List<StoreChanges>();
        if (count == 0) return told;
        await foreach (var changes in watch)
        {
            told.Add(changes);
            if (told.Count == count || changes.Changes.IsEmpty) break;
        }

        return told;
    }
}
