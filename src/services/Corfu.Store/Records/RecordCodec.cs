using Corfu.Store.Index;
using Corfu.Store.State;

namespace Corfu.Store.Records;

/// <summary>Bytes of records: the arguments of a call, one array of MessagePack.</summary>
internal static class RecordCodec
{
    // A record that nests deeper is no record of a store.
    public const int MaxDepth = 8;

    // A lease's time is a TimeSpan.
    private const long MaxMilliseconds = 9_000_000_000_000;

    public static ArgumentBuffer Write(StoreRecord record)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        switch (record)
        {
            case ConfigureRecord configure:
                writer.WriteArrayHeader(3);
                writer.Write(configure.Settings.Span);
                WriteNumber(ref writer, configure.Settings.KeepRevisions);
                WriteNumber(ref writer, configure.Settings.QuotaBytes);
                break;
            case TransactRecord transact:
                WriteTransact(ref writer, transact);
                break;
            case MoveRecord move:
                WriteMove(ref writer, move);
                break;
            case CompactRecord compact:
                writer.WriteArrayHeader(1);
                writer.Write(compact.Revision);
                break;
            case PinRecord pin:
                writer.WriteArrayHeader(1);
                writer.WriteText(pin.Name);
                break;
            case UnpinRecord unpin:
                writer.WriteArrayHeader(1);
                writer.WriteText(unpin.Name);
                break;
            case RevertRecord revert:
                writer.WriteArrayHeader(1);
                writer.Write(revert.Revision);
                break;
            case GrantRecord grant:
                writer.WriteArrayHeader(3);
                WriteNumber(ref writer, grant.Id);
                writer.Write(grant.Milliseconds);
                writer.Write(grant.At);
                break;
            case RenewRecord renew:
                writer.WriteArrayHeader(2);
                writer.Write(renew.Id);
                writer.Write(renew.At);
                break;
            case EndLeaseRecord end:
                writer.WriteArrayHeader(2);
                writer.Write(end.Id);
                WriteNumber(ref writer, end.Version);
                break;
        }

        writer.Flush();
        return buffer;
    }

    /// <exception cref="TangoUnknownRecordException">The number is none of this code's.</exception>
    /// <exception cref="TangoFormatException">The bytes are not what <see cref="Write"/> writes.</exception>
    public static StoreRecord Read(int mutator, ReadOnlyMemory<byte> arguments)
    {
        var reader = new MessagePackReader(arguments);
        try
        {
            var record = Read(mutator, ref reader);
            TangoFormatters.RequireEnd(ref reader);
            return record;
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    /// <summary>The values of a call that has values; empty for those that stand elsewhere.</summary>
    /// <exception cref="TangoFormatException">The call has none.</exception>
    public static ImmutableArray<ReadOnlyMemory<byte>> ReadValues(ReadOnlyMemory<byte> arguments)
    {
        var reader = new MessagePackReader(arguments);
        try
        {
            if (reader.ReadCount() < 1) throw new TangoFormatException("The call has no values");
            return ReadArray(ref reader, static (ref MessagePackReader inner) => ReadValue(ref inner).Bytes);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    public static void WriteRange(ref MessagePackWriter writer, StoreRange range)
    {
        writer.Write(range.From.Bytes);
        if (range.To is { } to) writer.Write(to.Bytes);
        else writer.WriteNil();
    }

    public static StoreRange ReadRange(ref MessagePackReader reader) =>
        new(ReadKey(ref reader), reader.TryReadNil() ? default(StoreKey?) : ReadKey(ref reader));

    public static StoreKey ReadKey(ref MessagePackReader reader) => new(reader.ReadBinary().Span);

    public static void WriteNumber(ref MessagePackWriter writer, long? number)
    {
        if (number is { } value) writer.Write(value);
        else writer.WriteNil();
    }

    public static long? ReadNumber(ref MessagePackReader reader) =>
        reader.TryReadNil() ? null : reader.ReadInt64();

    public static void WritePlace(ref MessagePackWriter writer, ValuePlace place)
    {
        writer.WriteArrayHeader(4);
        writer.Write(place.Position);
        writer.Write(place.Record);
        writer.Write(place.Item);
        writer.Write(place.Length);
    }

    public static ValuePlace ReadPlace(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(4);
        var place = new ValuePlace(
            reader.ReadInt64(), reader.ReadInt32(), reader.ReadInt32(), reader.ReadInt32());
        if (place.Position < 0 || place.Record < ValuePlace.NoRecord || place.Item < 0 || place.Length < 0)
            throw new TangoFormatException($"No value stands at {place.Position}, {place.Record}, {place.Item}");
        return place;
    }

    public static ImmutableArray<T> ReadArray<T>(ref MessagePackReader reader, Element<T> element)
    {
        var items = ImmutableArray.CreateBuilder<T>(reader.ReadCount());
        for (var i = items.Capacity; i > 0; i--) items.Add(element(ref reader));
        return items.MoveToImmutable();
    }

    private static StoreRecord Read(int mutator, ref MessagePackReader reader)
    {
        switch (mutator)
        {
            case Mutators.Configure:
                reader.ReadArrayHeader(3);
                return new ConfigureRecord(new StoreSettings(
                    reader.ReadInt64(), ReadNumber(ref reader), ReadNumber(ref reader)));
            case Mutators.Transact:
                reader.ReadArrayHeader(3);
                return new TransactRecord(
                    ReadArray(ref reader, ReadValue), ReadArray(ref reader, ReadGuard),
                    StepCodec.Read(ref reader, MaxDepth));
            case Mutators.Move:
                reader.ReadArrayHeader(2);
                return new MoveRecord(ReadArray(ref reader, ReadValue), ReadArray(ref reader, ReadMove));
            case Mutators.Compact:
                reader.ReadArrayHeader(1);
                return new CompactRecord(reader.ReadInt64());
            case Mutators.Pin:
                reader.ReadArrayHeader(1);
                return new PinRecord(ReadName(ref reader));
            case Mutators.Unpin:
                reader.ReadArrayHeader(1);
                return new UnpinRecord(ReadName(ref reader));
            case Mutators.Revert:
                reader.ReadArrayHeader(1);
                return new RevertRecord(reader.ReadInt64());
            case Mutators.Grant:
                reader.ReadArrayHeader(3);
                return new GrantRecord(ReadNumber(ref reader), ReadMilliseconds(ref reader), reader.ReadInt64());
            case Mutators.Renew:
                reader.ReadArrayHeader(2);
                return new RenewRecord(reader.ReadInt64(), reader.ReadInt64());
            case Mutators.EndLease:
                reader.ReadArrayHeader(2);
                return new EndLeaseRecord(reader.ReadInt64(), ReadNumber(ref reader));
            default:
                throw new TangoUnknownRecordException(StoreIndex.TypeName, mutator);
        }
    }

    private static long ReadMilliseconds(ref MessagePackReader reader) =>
        reader.ReadInt64() is var milliseconds and > 0 and <= MaxMilliseconds
            ? milliseconds
            : throw new TangoFormatException("No lease lives so long");

    private static string ReadName(ref MessagePackReader reader) =>
        reader.ReadText() ?? throw new TangoFormatException("A pin has a name");

    private static void WriteTransact(ref MessagePackWriter writer, TransactRecord transact)
    {
        writer.WriteArrayHeader(3);
        WriteValues(ref writer, transact.Values);
        writer.WriteArrayHeader(transact.Guards.Length);
        foreach (var guard in transact.Guards)
        {
            writer.WriteArrayHeader(4);
            WriteRange(ref writer, guard.Range);
            writer.Write(guard.Count);
            writer.Write(guard.Newest);
        }

        StepCodec.Write(ref writer, transact.Branches);
    }

    private static void WriteMove(ref MessagePackWriter writer, MoveRecord move)
    {
        writer.WriteArrayHeader(2);
        WriteValues(ref writer, move.Values);
        writer.WriteArrayHeader(move.Moves.Length);
        foreach (var one in move.Moves)
        {
            writer.WriteArrayHeader(4);
            writer.Write(one.Key.Bytes);
            writer.Write(one.Revision);
            WritePlace(ref writer, one.From);
            writer.Write(one.Value);
        }
    }

    private static void WriteValues(ref MessagePackWriter writer, ImmutableArray<StoredValue> values)
    {
        writer.WriteArrayHeader(values.Length);
        foreach (var value in values)
        {
            if (value.Elsewhere is { } place) WritePlace(ref writer, place);
            else writer.Write(value.Bytes.Span);
        }
    }

    private static StoredValue ReadValue(ref MessagePackReader reader) =>
        reader.NextMessagePackType == MessagePackType.Array
            ? new StoredValue(default, ReadPlace(ref reader))
            : new StoredValue(reader.ReadBinary(), null);

    private static Guard ReadGuard(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(4);
        return new Guard(ReadRange(ref reader), reader.ReadInt32(), reader.ReadInt64());
    }

    private static ValueMove ReadMove(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(4);
        return new ValueMove(ReadKey(ref reader), reader.ReadInt64(), ReadPlace(ref reader), reader.ReadInt32());
    }

    public delegate T Element<out T>(ref MessagePackReader reader);
}
