using Corfu.StateMachines.Records;
using Corfu.StateMachines.Snapshots;
using Corfu.StateMachines.State;
using Corfu.StateMachines.Tests.Support;
using CsCheck;

namespace Corfu.StateMachines.Tests.Records;

/// <summary>Bytes of records, snapshots and saved states: what is written is read, and damage is one
/// exception.</summary>
public sealed class CodecTests
{
    private static readonly Gen<long> s_number = Gen.Frequency((3, Gen.Long[0, 300]), (1, Gen.Long[0, long.MaxValue]));

    private static readonly Gen<ReadOnlyMemory<byte>> s_bytes =
        Gen.Byte.Array[0, 40].Select(static bytes => new ReadOnlyMemory<byte>(bytes));

    private static readonly Gen<Command> s_command = Gen.OneOf(
        s_bytes.Select(static body => new Command(Command.NoSession, 0, 0, body)),
        Gen.Select(s_number, s_number, s_number, s_bytes,
            static (session, number, below, body) => new Command(session, number, below, body)));

    private static readonly Gen<ProposalKey> s_key = Gen.Select(Gen.Guid, s_number,
        static (replica, sequence) => new ProposalKey(replica, sequence));

    private static readonly Gen<MachineRecord> s_record = Gen.OneOf(
        Gen.Select(Gen.String[0, 20], Gen.Int[0, int.MaxValue], Gen.Int[0, 9], Gen.Int[0, int.MaxValue],
            static (machine, version, sessions, bytes) =>
                (MachineRecord)new ConfigureRecord(machine.Replace('\ud800', '?'), version, sessions, bytes))
            .Where(static record => record is ConfigureRecord { Machine: var name } && name.All(c => c < 0xd800)),
        Gen.Select(s_key, s_number, Gen.ULong, s_command.Array[0, 5], static (key, applied, digest, commands) =>
            (MachineRecord)new CommandsRecord(key, new LogPosition(applied), digest, [.. commands])),
        s_key.Select(static key => (MachineRecord)new OpenRecord(key)),
        Gen.Select(s_key, s_number, static (key, session) => (MachineRecord)new CloseRecord(key, session)),
        Gen.Select(s_key, s_number, Gen.Bool, static (key, behind, isFirst) =>
            (MachineRecord)new IntentRecord(key, isFirst ? null : new LogPosition(behind))));

    [Fact]
    public void Record_that_is_written_is_read() => s_record.Sample(record =>
    {
        var bytes = RecordCodec.Write(record);
        Assert.Equal(bytes.ToArray(), RecordCodec.Write(RecordCodec.Read(bytes)).ToArray());
        if (record is CommandsRecord commands)
        {
            Assert.True(bytes.Length <= RecordCodec.RecordOverhead
                + commands.Commands.Sum(c => c.Body.Length + RecordCodec.CommandOverhead));
        }
    });

    [Fact]
    public void Damaged_record_is_a_format_exception() =>
        Gen.Select(s_record, Gen.Int[0, 1000], Gen.Byte, Gen.Bool).Sample((record, place, value, isCut) =>
        {
            var bytes = RecordCodec.Write(record).ToArray();
            place %= bytes.Length;
            if (isCut) bytes = bytes[..place];
            else bytes[place] = value;
            ReadOrRefuse(() => RecordCodec.Read(bytes));
        });

    [Fact]
    public void Random_bytes_are_a_format_exception() => Gen.Byte.Array[0, 200].Sample(bytes =>
    {
        ReadOrRefuse(() => RecordCodec.Read(bytes));
        ReadOrRefuse(() => SnapshotCodec.Read(bytes));
        ReadOrRefuse(() => SnapshotCodec.ReadChunk(0, bytes));
        ReadOrRefuse(() => SavedStateCodec.Read(bytes));
    });

    [Fact]
    public void Snapshot_that_is_written_is_read() => Gen.Select(s_number, Gen.ULong, s_number, Gen.ULong,
        Gen.Int[0, 1000].Array[0, 9]).Sample((end, digest, length, check, steps) =>
    {
        var position = 0L;
        var record = new SnapshotRecord(new LogPosition(end), digest, length, check,
            [.. steps.Select(step => new LogPosition(position += step))]);
        var read = SnapshotCodec.Read(SnapshotCodec.Write(record));
        Assert.Equal(record with { Chunks = [] }, read with { Chunks = [] });
        Assert.Equal(record.Chunks, read.Chunks);
    });

    [Fact]
    public void Chunk_is_read_under_the_number_of_the_writer() =>
        Gen.Select(s_bytes, Gen.Int[0, 9], Gen.Int[0, 9]).Sample((bytes, number, other) =>
        {
            var entry = SnapshotCodec.WriteChunk(number, bytes.Span);
            Assert.True(entry.Length <= bytes.Length + SnapshotCodec.ChunkOverhead);
            Assert.Equal(bytes.ToArray(), SnapshotCodec.ReadChunk(number, entry).ToArray());
            if (other != number)
                Assert.Throws<MachineFormatException>(() => SnapshotCodec.ReadChunk(other, entry));
        });

    [Fact]
    public void Bytes_of_records_do_not_change()
    {
        var key = new ProposalKey(new Guid("00112233-4455-6677-8899-aabbccddeeff"), 5);
        const string Replica = "C41000112233445566778899AABBCCDDEEFF";
        Assert.Equal("960101A16D020304", Hex(new ConfigureRecord("m", 2, 3, 4)));
        Assert.Equal($"970102{Replica}05090A9294010200C40161C40162", Hex(new CommandsRecord(key, new LogPosition(9), 10,
            [new Command(1, 2, 0, SumMachine.Bytes("a")), new Command(-1, 0, 0, SumMachine.Bytes("b"))])));
        Assert.Equal($"940103{Replica}05", Hex(new OpenRecord(key)));
        Assert.Equal($"950104{Replica}0507", Hex(new CloseRecord(key, 7)));
        Assert.Equal($"950105{Replica}05C0", Hex(new IntentRecord(key, null)));

        static string Hex(MachineRecord record) => Convert.ToHexString(RecordCodec.Write(record).Span);
    }

    private static void ReadOrRefuse(Action read)
    {
        try
        {
            read();
        }
        catch (MachineFormatException)
        {
            // The one exception that damage may be.
        }
    }
}
