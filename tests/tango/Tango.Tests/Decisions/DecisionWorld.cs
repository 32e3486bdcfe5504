using System.Buffers;
using Corfu;
using Tango.Records;
using Tango.Testing;

namespace Tango.Tests.Decisions;

/// <summary>Runtimes that ask the log to decide, and what came into it.</summary>
internal sealed class DecisionWorld : IAsyncDisposable
{
    public static readonly TangoOptions Asking = new() { Decisions = TransactionDecisions.Sequencer };
    public static readonly TangoOptions Playing = new() { Decisions = TransactionDecisions.Playback };

    private readonly World _world;

    public DecisionWorld(bool decides = true, TimeProvider? time = null) => _world = new World(
        new InMemoryLogOptions
        {
            Decide = decides,
            NextAppendFault = () => Faults.Count > 0 ? Faults.Dequeue() : AppendFault.None,
            AroundAppend = async _ =>
            {
                if (BeforeAppend is not { } before) return;
                BeforeAppend = null;
                await before();
            },
        }, time)
    { Decider = null };

    /// <summary>Faults of the next appends.</summary>
    public Queue<AppendFault> Faults { get; } = [];

    /// <summary>Runs once, before the next append takes its position.</summary>
    public Func<Task>? BeforeAppend { get; set; }

    public InMemoryCorfuLog Log => _world.Log;

    public TangoRuntime NewRuntime(TangoOptions? options = null) => _world.NewRuntime(options ?? Asking);

    public async Task<(TangoRuntime Runtime, Accounts First, Accounts Second)> OpenAsync(TangoOptions? options = null)
    {
        var runtime = NewRuntime(options);
        return (runtime, await runtime.OpenAsync<Accounts>("first", OpenMode.Create),
            await runtime.OpenAsync<Accounts>("second", OpenMode.Create));
    }

    public ValueTask<LogPosition> TailAsync() => _world.TailAsync();

    /// <summary>Flags of the commit records from a position on.</summary>
    public async Task<List<CommitFlags>> CommitsAsync(LogPosition from)
    {
        var flags = new List<CommitFlags>();
        await foreach (var (kind, record) in RecordsAsync(from))
        {
            if (kind == RecordKind.Commit) flags.Add(FlagsOf(record));
        }

        return flags;
    }

    /// <summary>Kinds of the records from a position on.</summary>
    public async Task<List<RecordKind>> KindsAsync(LogPosition from)
    {
        var kinds = new List<RecordKind>();
        await foreach (var (kind, _) in RecordsAsync(from)) kinds.Add(kind);
        return kinds;
    }

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    private static CommitFlags FlagsOf(ReadOnlyMemory<byte> record)
    {
        var reader = new MessagePackReader(record);
        reader.ReadArrayHeader();
        reader.ReadInt32();
        return (CommitFlags)reader.ReadInt32();
    }

    private async IAsyncEnumerable<(RecordKind Kind, ReadOnlyMemory<byte> Record)> RecordsAsync(LogPosition from)
    {
        for (var (at, tail) = (from, await TailAsync()); at < tail; at = at.Next)
        {
            var page = (await Log.ReadManyAsync([at], mode: ReadMode.Observe))[0];
            if (!page.IsData) continue;
            foreach (var record in RecordsOf(page.Entry!.Payload)) yield return record;
        }
    }

    private static List<(RecordKind Kind, ReadOnlyMemory<byte> Record)> RecordsOf(ReadOnlyMemory<byte> payload)
    {
        var records = new List<(RecordKind, ReadOnlyMemory<byte>)>();
        var reader = new MessagePackReader(payload);
        for (var left = EntryFormat.ReadHeader(ref reader).Records; left > 0; left--)
        {
            ReadOnlyMemory<byte> record = BuffersExtensions.ToArray(reader.ReadRaw());
            var peek = new MessagePackReader(record);
            peek.ReadArrayHeader();
            records.Add(((RecordKind)peek.ReadInt32(), record));
        }

        return records;
    }
}
