using System.Buffers;
using Corfu.StateMachines.Records;

namespace Corfu.StateMachines.State;

/// <summary>All of a state but the machine, as a snapshot has it.</summary>
// Invariant: all that decides a record's effect is here: sessions, their results and order, time, the newest intent.
// Else a replica that has loaded a snapshot runs a duplicate that the others suppress (M3).
internal sealed record SavedState(ConfigureRecord Configured, LogPosition End, ulong Digest, DateTimeOffset Time,
    LogPosition? LastIntent, long CommandsSince, long BytesSince, SessionTable Sessions);

/// <summary>
/// Bytes of a saved state, MessagePack: <c>[1, machine, version, sessions, result bytes, end, digest, time, last intent
/// | nil, commands since, bytes since, [[session, answered below, [[number, place, result], ...]], ...]]</c>, the
/// session that was least recently used first. Time is in .NET ticks, UTC.
/// </summary>
internal static class SavedStateCodec
{
    private const int Length = 12;

    public static ReadOnlyMemory<byte> Write(
        MachineState state, PlayedMark mark, SessionTable sessions, DateTimeOffset time)
    {
        var configured = state.Configured
            ?? throw new InvalidOperationException("A stream without a machine has no state");
        var buffer = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(Length);
        writer.Write(RecordCodec.Format);
        writer.Write(configured.Machine);
        writer.Write(configured.Version);
        writer.Write(configured.MaxSessions);
        writer.Write(configured.MaxResultBytes);
        writer.Write(mark.End.Offset);
        writer.Write(mark.Digest);
        writer.Write(time.UtcTicks);
        if (state.LastIntent is { } intent) writer.Write(intent.Offset);
        else writer.WriteNil();
        writer.Write(state.CommandsSince);
        writer.Write(state.BytesSince);
        WriteSessions(ref writer, Planted.Is("sessions-not-saved") ? new SessionTable(1, 1) : sessions);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <exception cref="MachineFormatException">The bytes are no state, or one of a later format.</exception>
    public static SavedState Read(ReadOnlyMemory<byte> bytes) => StrictReading.ReadAll(bytes, ReadState);

    private static SavedState ReadState(ref MessagePackReader reader)
    {
        reader.ReadArray(Length);
        var format = reader.ReadInt32();
        if (format != RecordCodec.Format) throw new MachineFormatException($"Format {format} is not known here");
        var configured = new ConfigureRecord(
            reader.ReadText(), reader.ReadCounter(), reader.ReadCounter(), reader.ReadCounter());
        var end = reader.ReadPosition();
        var digest = reader.ReadUInt64();
        var time = new DateTimeOffset(reader.ReadNumber(), TimeSpan.Zero);
        LogPosition? intent = reader.TryReadNil() ? null : reader.ReadPosition();
        var (commands, bytes) = (reader.ReadNumber(), reader.ReadNumber());
        var sessions = new SessionTable(configured.MaxSessions, configured.MaxResultBytes);
        for (var count = reader.ReadCount(); count > 0; count--) sessions.Add(ReadSession(ref reader));
        return new SavedState(configured, end, digest, time, intent, commands, bytes, sessions);
    }

    private static SessionTable.Session ReadSession(ref MessagePackReader reader)
    {
        reader.ReadArray(3);
        var session = new SessionTable.Session(reader.ReadNumber(), reader.ReadNumber());
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArray(3);
            session.Keep(
                reader.ReadNumber(), new KeptResult(reader.ReadPosition(), reader.ReadBinary().ToArray()));
        }

        return session;
    }

    private static void WriteSessions(ref MessagePackWriter writer, SessionTable sessions)
    {
        writer.WriteArrayHeader(sessions.Count);
        foreach (var session in sessions.Sessions)
        {
            writer.WriteArrayHeader(3);
            writer.Write(session.Id);
            writer.Write(session.AnsweredBelow);
            writer.WriteArrayHeader(session.Results.Count);
            foreach (var (number, result) in session.Results)
            {
                writer.WriteArrayHeader(3);
                writer.Write(number);
                writer.Write(result.Place.Offset);
                writer.Write(result.Bytes.Span);
            }
        }
    }
}
