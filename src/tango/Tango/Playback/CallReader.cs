using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Playback;

/// <summary>Reads calls of objects by their places, each with one read of the log. The log checks the entry's
/// CRC-32C; the call must be one of the object.</summary>
internal sealed class CallReader(ICorfuLog log)
{
    // Most of one read of the log.
    private const int MaxPositions = 4096;

    /// <exception cref="TangoPlaceException">No call of the object stands there.</exception>
    /// <exception cref="TangoTrimmedException">The entry is trimmed.</exception>
    /// <exception cref="TangoFormatException">The entry is damaged or newer than this code.</exception>
    /// <exception cref="PageCorruptException">No good copy of the entry was found.</exception>
    public async ValueTask<TangoCall> ReadAsync(
        LogPlace place, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        if (place.IsPending)
            throw new TangoPlaceException(entry.Name, place, "it is read in the transaction that writes it only");
        var page = (await log.ReadManyAsync([place.Position], cancellationToken: cancellationToken))[0];
        return Read(page, place, entry);
    }

    /// <summary>As <see cref="ReadAsync"/>, with as few reads of the log as it takes.</summary>
    public async ValueTask<ImmutableArray<TangoCall>> ReadManyAsync(
        ImmutableArray<LogPlace> places, DirectoryEntry entry, CancellationToken cancellationToken)
    {
        var calls = ImmutableArray.CreateBuilder<TangoCall>(places.Length);
        foreach (var chunk in places.Chunk(MaxPositions))
        {
            ImmutableArray<LogPosition> positions = [.. chunk.Select(static place => place.Position).Distinct()];
            var pages = (await log.ReadManyAsync(positions, cancellationToken: cancellationToken))
                .ToDictionary(static page => page.Position.Offset);
            foreach (var place in chunk) calls.Add(Read(pages[place.Position.Offset], place, entry));
        }

        return calls.MoveToImmutable();
    }

    private static TangoCall Read(LogReadResult page, LogPlace place, DirectoryEntry entry)
    {
        switch (page.State)
        {
            case PageState.Data:
                break;
            case PageState.Trimmed:
                throw new TangoTrimmedException(
                    $"The call of '{entry.Name}' at {place} is trimmed: its state does not hold the place any more",
                    null, null);
            case PageState.Corrupt:
                throw new PageCorruptException($"Reading the call at {place}");
            default:
                throw new TangoPlaceException(entry.Name, place, $"the position is {page.State}");
        }

        try
        {
            return Find(page.Entry!, place, entry);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e);
        }
    }

    private static TangoCall Find(LogEntry page, LogPlace place, DirectoryEntry entry)
    {
        var reader = new MessagePackReader(page.Payload);
        var records = EntryFormat.ReadHeader(ref reader).Records;
        if (place.Record >= records)
            throw new TangoPlaceException(entry.Name, place, $"the entry has {records} records");
        for (var i = 0; i < place.Record; i++) reader.SkipValue();
        var elements = reader.ReadCount();
        var kind = elements > 0 ? (RecordKind)reader.ReadInt32() : 0;
        switch (kind)
        {
            case RecordKind.Update when elements == RecordFormat.UpdateLength:
                if (place.Call > 0) throw new TangoPlaceException(entry.Name, place, "an update is one call");
                break;
            case RecordKind.Commit when elements == RecordFormat.CommitLength:
                // Flags, the end of the snapshot, what was read.
                for (var i = 0; i < 3; i++) reader.SkipValue();
                SkipCalls(ref reader, place, entry);
                break;
            case RecordKind.Spill when elements == RecordFormat.SpillLength:
                SkipCalls(ref reader, place, entry);
                break;
            default:
                throw new TangoPlaceException(entry.Name, place, $"the record is of kind {(int)kind}");
        }

        var call = CallRecord.Read(ref reader);
        if (call.Object != entry.Id)
            throw new TangoPlaceException(entry.Name, place, $"the call is one of {call.Object}, not {entry.Id}");
        return new TangoCall(place, call.Mutator, call.Key, call.Arguments);
    }

    private static void SkipCalls(ref MessagePackReader reader, LogPlace place, DirectoryEntry entry)
    {
        var calls = reader.ReadCount();
        if (place.Call >= calls)
            throw new TangoPlaceException(entry.Name, place, $"the record has {calls} calls");
        for (var i = 0; i < place.Call; i++) reader.SkipValue();
        reader.ReadArrayHeader(CommitFormat.WriteLength);
    }
}
