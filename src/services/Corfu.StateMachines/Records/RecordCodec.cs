using System.Buffers;

namespace Corfu.StateMachines.Records;

/// <summary>
/// Bytes of a record, MessagePack: <c>[1, kind, ...]</c>, 1 being the format.
/// Configure <c>[1, 1, machine, version, sessions, result bytes]</c>;
/// commands <c>[1, 2, replica, sequence, applied, digest, [command, ...]]</c>, a command being
/// <c>[session, number, answered below, bytes]</c>, or the bytes alone without a session;
/// open <c>[1, 3, replica, sequence]</c>; close <c>[1, 4, replica, sequence, session]</c>;
/// intent <c>[1, 5, replica, sequence, behind | nil]</c>.
/// </summary>
internal static class RecordCodec
{
    public const int Format = 1;

    // Bytes of a commands record around its commands, and of a command around its body, at most.
    public const int RecordOverhead = 64;
    public const int CommandOverhead = 33;

    private const int GuidBytes = 16;

    private enum Kind
    {
        Configure = 1,
        Commands = 2,
        Open = 3,
        Close = 4,
        Intent = 5,
    }

    public static ReadOnlyMemory<byte> Write(MachineRecord record)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        switch (record)
        {
            case ConfigureRecord configure:
                WriteHead(ref writer, Kind.Configure, 4);
                writer.Write(configure.Machine);
                writer.Write(configure.Version);
                writer.Write(configure.MaxSessions);
                writer.Write(configure.MaxResultBytes);
                break;
            case CommandsRecord commands:
                WriteHead(ref writer, Kind.Commands, 5, commands.Key);
                writer.Write(commands.Applied.Offset);
                writer.Write(commands.Digest);
                writer.WriteArrayHeader(commands.Commands.Length);
                foreach (var command in commands.Commands) WriteCommand(ref writer, command);
                break;
            case OpenRecord open:
                WriteHead(ref writer, Kind.Open, 2, open.Key);
                break;
            case CloseRecord close:
                WriteHead(ref writer, Kind.Close, 3, close.Key);
                writer.Write(close.Session);
                break;
            case IntentRecord intent:
                WriteHead(ref writer, Kind.Intent, 3, intent.Key);
                if (intent.Behind is { } behind) writer.Write(behind.Offset);
                else writer.WriteNil();
                break;
            default:
                throw new ArgumentException($"No record of a machine: {record}", nameof(record));
        }

        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <exception cref="MachineFormatException">The bytes are no record, or one of a later format.</exception>
    public static MachineRecord Read(ReadOnlyMemory<byte> bytes) => StrictReading.ReadAll(bytes, ReadRecord);

    private static MachineRecord ReadRecord(ref MessagePackReader reader)
    {
        var count = reader.ReadCount();
        if (count < 2) throw new MachineFormatException("A record has a format and a kind");
        var format = reader.ReadInt32();
        if (format != Format) throw new MachineFormatException($"Format {format} is not known here");
        var kind = (Kind)reader.ReadInt32();
        var length = kind switch
        {
            Kind.Configure => 4,
            Kind.Commands => 5,
            Kind.Open => 2,
            Kind.Close or Kind.Intent => 3,
            _ => throw new MachineFormatException($"Records of kind {(int)kind} are not known here"),
        };
        if (count != length + 2) throw new MachineFormatException($"A record of kind {kind} has {count} parts");
        if (kind == Kind.Configure)
            return new ConfigureRecord(
                reader.ReadText(), reader.ReadCounter(), reader.ReadCounter(), reader.ReadCounter());
        var replica = reader.ReadBinary().Span;
        if (replica.Length != GuidBytes) throw new MachineFormatException("A replica's id has 16 bytes");
        var key = new ProposalKey(new Guid(replica, bigEndian: true), reader.ReadNumber());
        return kind switch
        {
            Kind.Commands => new CommandsRecord(
                key, reader.ReadPosition(), reader.ReadUInt64(), ReadCommands(ref reader)),
            Kind.Open => new OpenRecord(key),
            Kind.Close => new CloseRecord(key, reader.ReadNumber()),
            _ => new IntentRecord(key, reader.TryReadNil() ? null : reader.ReadPosition()),
        };
    }

    private static ImmutableArray<Command> ReadCommands(ref MessagePackReader reader)
    {
        var commands = ImmutableArray.CreateBuilder<Command>(reader.ReadCount());
        for (var i = commands.Capacity; i > 0; i--)
        {
            if (reader.NextMessagePackType == MessagePackType.Binary)
            {
                commands.Add(new Command(Command.NoSession, 0, 0, reader.ReadBinary()));
                continue;
            }

            reader.ReadArray(4);
            commands.Add(new Command(
                reader.ReadNumber(), reader.ReadNumber(), reader.ReadNumber(), reader.ReadBinary()));
        }

        return commands.MoveToImmutable();
    }

    private static void WriteCommand(ref MessagePackWriter writer, in Command command)
    {
        if (command.HasSession)
        {
            writer.WriteArrayHeader(4);
            writer.Write(command.Session);
            writer.Write(command.Number);
            writer.Write(command.AnsweredBelow);
        }

        writer.Write(command.Body.Span);
    }

    private static void WriteHead(ref MessagePackWriter writer, Kind kind, int parts)
    {
        writer.WriteArrayHeader(parts + 2);
        writer.Write(Format);
        writer.Write((int)kind);
    }

    private static void WriteHead(ref MessagePackWriter writer, Kind kind, int parts, ProposalKey key)
    {
        WriteHead(ref writer, kind, parts);
        writer.Write(key.Replica.ToByteArray(bigEndian: true));
        writer.Write(key.Sequence);
    }
}
