using System.Buffers;
using Corfu;
using Tango.Formatting;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>
/// Replays a log of <see cref="Accounts"/> objects the plainest way: no eviction, no batching, every write remembered.
/// It shares the reader of MessagePack with the product, nothing else.
/// </summary>
internal sealed class LogModel
{
    private const int DecidedFlag = 2;

    private readonly List<(RecordVersion Version, ulong Object, string? Key)> _writes = [];
    private readonly Dictionary<(ulong Object, string Account), long> _balances = [];
    private readonly Dictionary<RecordVersion, byte[]> _spills = [];

    /// <summary>Outcome of every commit record, true for committed, with the balances just before it.</summary>
    public Dictionary<RecordVersion, (bool Committed,
        Dictionary<(ulong Object, string Account), long> Before)> Commits
    { get; } = [];

    /// <summary>The balances just before each entry, and after the last one.</summary>
    public Dictionary<long, Dictionary<(ulong Object, string Account), long>> Before { get; } = [];

    /// <summary>The commit records that the log itself decided, as it granted their positions.</summary>
    public HashSet<RecordVersion> Decided { get; } = [];

    /// <summary>The commit records that have a decision record.</summary>
    public HashSet<RecordVersion> Decisions { get; } = [];

    /// <summary>The commit records whose writes were spilled.</summary>
    public HashSet<RecordVersion> SpilledTransactions { get; } = [];

    public IReadOnlyDictionary<(ulong Object, string Account), long> Balances => _balances;

    public static async Task<LogModel> ReplayAsync(InMemoryCorfuLog log)
    {
        var model = new LogModel();
        var tail = (await log.CheckAsync([])).Tail;
        for (var offset = 0L; offset < tail.Offset; offset++)
        {
            model.Before[offset] = new(model._balances);
            var result = (await log.ReadManyAsync([new LogPosition(offset)]))[0];
            if (result.State == PageState.Data) model.Apply(result.Entry!);
        }

        model.Before[tail.Offset] = new(model._balances);
        return model;
    }

    /// <summary>Whether the object, or one of its keys, was written at that version.</summary>
    public bool HasWrite(RecordVersion version, ulong id, string? key) => _writes.Exists(
        write => write.Version == version && write.Object == id
            && (key is null || write.Key is null || write.Key == key));

    public long Balance(ulong id, string account) => _balances.GetValueOrDefault((id, account));

    private void Apply(LogEntry entry)
    {
        var reader = new MessagePackReader(entry.Payload);
        reader.ReadArrayHeader(4);
        reader.SkipValue();
        reader.SkipValue();
        reader.SkipValue();
        var records = reader.ReadArrayHeader();
        for (var i = 0; i < records; i++)
        {
            var version = new RecordVersion(entry.Position, i);
            reader.ReadArrayHeader();
            switch (reader.ReadInt32())
            {
                case 1:
                    Write(ref reader, version, true);
                    break;
                case 2:
                    Commit(ref reader, version);
                    break;
                case 4:
                    _spills.Add(version, reader.ReadRaw().ToArray());
                    break;
                default:
                    Decision(ref reader);
                    break;
            }
        }
    }

    private void Commit(ref MessagePackReader reader, RecordVersion version)
    {
        var isDecided = (reader.ReadInt32() & DecidedFlag) != 0;
        var snapshotEnd = reader.ReadInt64();
        var committed = true;
        for (var reads = reader.ReadArrayHeader(); reads > 0; reads--)
        {
            reader.ReadArrayHeader();
            var id = reader.ReadUInt64();
            if (reader.TryReadNil())
            {
                committed &= !_writes.Exists(
                    write => write.Object == id && write.Version.Position.Offset >= snapshotEnd);
                continue;
            }

            for (var keys = reader.ReadArrayHeader(); keys > 0; keys--)
            {
                var key = Convert.ToHexString(reader.ReadBinary().Span);
                committed &= !_writes.Exists(write =>
                    write.Object == id && (write.Key is null || write.Key == key)
                    && write.Version.Position.Offset >= snapshotEnd);
            }
        }

        if (isDecided)
        {
            Assert.True(committed, $"{version} was granted, and what it read was written");
            Decided.Add(version);
        }

        Commits.Add(version, (committed, new(_balances)));
        var own = reader;
        reader.SkipValue();
        for (var spills = reader.ReadArrayHeader(); spills > 0; spills--)
        {
            reader.ReadArrayHeader();
            var at = new RecordVersion(new LogPosition(reader.ReadInt64()), reader.ReadInt32());
            reader.SkipValue();
            Assert.True(at.CompareTo(version) < 0);
            SpilledTransactions.Add(version);
            var spilled = new MessagePackReader(_spills[at]);
            WriteAll(ref spilled, version, committed);
        }

        WriteAll(ref own, version, committed);
    }

    private void WriteAll(ref MessagePackReader reader, RecordVersion version, bool takesEffect)
    {
        for (var writes = reader.ReadArrayHeader(); writes > 0; writes--)
        {
            reader.ReadArrayHeader();
            Write(ref reader, version, takesEffect);
        }
    }

    private void Decision(ref MessagePackReader reader)
    {
        var commit = new RecordVersion(new LogPosition(reader.ReadInt64()), reader.ReadInt32());
        var committed = reader.TryReadNil();
        if (!committed) reader.SkipValue();
        Assert.Equal(Commits[commit].Committed, committed);
        Decisions.Add(commit);
    }

    private void Write(ref MessagePackReader reader, RecordVersion version, bool takesEffect)
    {
        var id = reader.ReadUInt64();
        var mutator = reader.ReadInt32();
        var hasKey = !reader.TryReadNil();
        var key = hasKey ? reader.ReadBinary() : default;
        var arguments = reader.ReadBinary();
        if (!takesEffect) return;
        _writes.Add((version, id, hasKey ? Convert.ToHexString(key.Span) : null));
        if (id < StreamId.FirstObjectValue) return;
        if (mutator == 4)
        {
            foreach (var cell in _balances.Keys.Where(cell => cell.Object == id).ToArray()) _balances.Remove(cell);
            return;
        }

        var account = (id, Wire.ReadString(ref key));
        var amount = Wire.ReadInt64(ref arguments);
        var old = _balances.GetValueOrDefault(account);
        if (mutator == 1) _balances[account] = amount;
        else if (mutator == 2) _balances[account] = old + amount;
        else if (old >= amount) _balances[account] = old - amount;
    }
}
