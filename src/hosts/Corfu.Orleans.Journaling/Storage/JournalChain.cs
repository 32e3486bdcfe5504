namespace Corfu.Orleans.Journaling.Storage;

/// <summary>
/// State of a journal after its stream's records, in log order. Pure: every reader of the stream decides alike.
/// </summary>
/// <remarks>
/// A record is in force if its <see cref="JournalRecord.Base"/> is the newest record in force before it. If two writers
/// build on the same record, the first in the log wins; the other's record counts for no reader. Only records in force
/// move <see cref="Version"/>, so <c>Root &lt;= Version</c>. Nothing is in force behind a deletion.
/// </remarks>
/// <param name="entry">The beginning: the catalog's record that created the journal, or a snapshot known to be in
/// force.</param>
/// <param name="keepsData">False: only the state that a writer needs is kept.</param>
internal sealed class JournalChain(string journal, JournalEntry entry, bool keepsData)
{
    private readonly Dictionary<Guid, List<(LogPosition Position, ReadOnlyMemory<byte> Data)>> _parts = [];
    private readonly List<ReadOnlyMemory<byte>> _data = [];
    private bool _keepsData = keepsData;

    /// <summary>Offset of the newest record in force; of the journal's creation while there is none; -1 until the
    /// snapshot was met.</summary>
    public long Version { get; private set; } = entry.Root == entry.Created ? entry.Created : JournalRecord.None;

    public long Root { get; private set; } = entry.Root;

    /// <summary>Nothing below is needed to read the journal.</summary>
    public long Start { get; private set; } = entry.Start;

    /// <summary>Nothing was written since the journal was created.</summary>
    public bool IsEmpty => Version == entry.Created;

    /// <summary>The journal was deleted.</summary>
    public bool IsEnded { get; private set; }

    public string? FormatKey { get; private set; } = entry.Format;

    /// <summary>The journal's data in order; empty if none is kept.</summary>
    public IReadOnlyList<ReadOnlyMemory<byte>> Data => _data;

    /// <summary>Data since the root.</summary>
    public long BytesSinceRoot { get; private set; }

    public long RootBytes { get; private set; }

    /// <summary>Records in force since the root.</summary>
    public int RecordsSinceRoot { get; private set; }

    /// <summary>Keeps no data from here on; what is known of it stays.</summary>
    public void ReleaseData()
    {
        _data.Clear();
        _keepsData = false;
    }

    /// <summary>Returns whether the record is in force. A record of another journal, whose stream has the same number,
    /// never is.</summary>
    /// <exception cref="CorfuJournalException">Parts of it are missing.</exception>
    public bool Accept(LogPosition position, JournalRecord record)
    {
        if (record.Journal != journal || IsEnded) return false;
        if (record.Kind == JournalRecordKind.Part)
        {
            if (!_parts.TryGetValue(record.Batch, out var parts)) _parts.Add(record.Batch, parts = []);
            parts.Add((position, record.Data));
            return false;
        }

        _parts.Remove(record.Batch, out var ahead);
        // Below the known root only its own parts are read.
        if (position.Offset < entry.Root) return false;
        if (position.Offset != entry.Root && record.Base != Version) return false;
        if ((ahead?.Count ?? 0) != record.Parts)
        {
            throw new CorfuJournalException(
                $"The record at {position} of journal '{journal}' has {record.Parts} parts, of which "
                + $"{ahead?.Count ?? 0} are in the log.");
        }

        Apply(position, record, ahead ?? []);
        // Other parts before it belong to records that build on an older one: none of them comes in force.
        _parts.Clear();
        return true;
    }

    private void Apply(
        LogPosition position, JournalRecord record, List<(LogPosition Position, ReadOnlyMemory<byte> Data)> parts)
    {
        Version = position.Offset;
        long bytes = record.Data.Length + parts.Sum(part => (long)part.Data.Length);
        if (record.Kind == JournalRecordKind.Append)
        {
            BytesSinceRoot += bytes;
            RecordsSinceRoot++;
        }
        else
        {
            Root = position.Offset;
            Start = parts.Count == 0 ? Root : parts[0].Position.Offset;
            _data.Clear();
            (RootBytes, BytesSinceRoot, RecordsSinceRoot) = (bytes, 0, 0);
        }

        IsEnded = record.Kind == JournalRecordKind.Delete;
        FormatKey = record.FormatKey;
        if (!_keepsData || IsEnded) return;
        foreach (var (_, data) in parts) _data.Add(data);
        _data.Add(record.Data);
    }
}
