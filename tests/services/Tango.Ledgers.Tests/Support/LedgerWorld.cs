using System.Text;
using Tango.Ledgers.Directory;
using Tango.Ledgers.Records;
using Tango.Testing;

namespace Tango.Ledgers.Tests.Support;

/// <summary>Processes that share a log in memory and its ledgers.</summary>
internal sealed class LedgerWorld(InMemoryLogOptions? options = null) : IAsyncDisposable
{
    private TestProcess? _observer;

    public TangoTestHost Host { get; } = new(options);

    public InMemoryCorfuLog Log => Host.Log;

    // Claims follow the checkpoints closely.
    public TestProcess Start() =>
        Host.Start(new TangoOptions { Checkpoints = null, NewLogMaxSpan = 1, NewLogVersionAge = 16 });

    /// <summary>A store in a process of its own.</summary>
    public Task<LedgerStore> OpenAsync(LedgerOptions? options = null) => OpenAsync(Start(), options);

    public async Task<LedgerStore> OpenAsync(TestProcess process, LedgerOptions? options = null) =>
        await LedgerStore.OpenAsync(process.Connection, process.Runtime,
            options: (options ?? new LedgerOptions()) with { Time = Host.Time });

    /// <summary>A store over a log that fails as the test wants; its directory is that of another connection.</summary>
    public async Task<LedgerStore> OpenAsync(HookedLog log, LedgerOptions? options = null) =>
        await LedgerStore.OpenAsync(log, Start().Runtime,
            options: (options ?? new LedgerOptions()) with { Time = Host.Time });

    /// <summary>Tells the directory of an end whose record is none of the ledger.</summary>
    public async Task CloseWronglyAsync(LedgerId id)
    {
        var row = await RowAsync(id);
        await (await DirectoryAsync()).CloseAsync(row.Id, row.Key, 0, 1, row.Key.Position.Offset);
    }

    /// <summary>A ledger as the directory has it.</summary>
    public async Task<LedgerRow> RowAsync(LedgerId id) => (await (await DirectoryAsync()).FindAsync(id.Value))!;

    public async Task<StreamId> StreamAsync(LedgerId id) =>
        LedgerStreams.OfSlot((await DirectoryAsync()).ObjectId, (await RowAsync(id)).Slot);

    /// <summary>Appends a record of a ledger as a process does that was stuck since it opened the ledger.</summary>
    public async Task<LogPosition> AppendAsync(StreamId stream, LedgerRecord record) =>
        (await Log.AppendToObjectsAsync(record.Encode(), [stream])).Require();

    /// <summary>As <see cref="AppendAsync"/>, of a process that dies after its position was granted.</summary>
    public async Task LeaveHoleAsync(StreamId stream, LedgerRecord record)
    {
        var dying = Start().Connection;
        dying.LeaveNextInDoubt(isWritten: false);
        Assert.False((await dying.AppendToObjectsAsync(record.Encode(), [stream])).IsAppended);
    }

    public ValueTask DisposeAsync() => Host.DisposeAsync();

    public static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    public static ReadOnlyMemory<byte> Bytes(long number) => Bytes(number.ToString());

    public static string Text(LedgerEntry entry) => Encoding.UTF8.GetString(entry.Data.Span);

    public static async Task<string> ReadAllAsync(LedgerReader reader)
    {
        var last = await reader.ReadLastConfirmedAsync();
        return last < 0 ? "" : await JoinAsync(reader.ReadAsync(0, last));
    }

    public static async Task<string> JoinAsync(IAsyncEnumerable<LedgerEntry> entries)
    {
        List<string> texts = [];
        await foreach (var entry in entries) texts.Add(Text(entry));
        return string.Join(' ', texts);
    }

    public static async Task<LedgerError> RefusalAsync(Func<Task> call) =>
        (await Assert.ThrowsAsync<LedgerException>(call)).Error;

    private async Task<LedgerDirectory> DirectoryAsync() =>
        await (_observer ??= Start()).Runtime.OpenAsync<LedgerDirectory>("ledgers");
}
