using CsCheck;
using Tango.Ledgers.Records;

namespace Tango.Ledgers.Tests;

/// <summary>The bytes of records.</summary>
public sealed class LedgerRecordTests
{
    private static readonly LogPlace s_key = new(new LogPosition(300), 2, 1);

    private static readonly Spine s_spine = new(
        7, 99, new LogPosition(40),
        [[new SpineRange(6, 2, new LogPosition(41))], [new SpineRange(0, 6, new LogPosition(30))], []]);

    private static readonly Gen<LedgerRecord> s_record = Gen.OneOf(
        Gen.Select(
            Gen.Long[0, long.MaxValue - 100], Gen.Long[-1, long.MaxValue], Gen.Byte.Array[0, 40].Array[1, 9],
            static (first, spine, data) => (LedgerRecord)new EntriesRecord(
                s_key, first, spine < 0 ? null : new LogPosition(spine),
                [.. data.Select(static bytes => new ReadOnlyMemory<byte>(bytes))])),
        Gen.Const((LedgerRecord)new FenceRecord(s_key)),
        Gen.Const((LedgerRecord)new SpineRecord(s_key, s_spine)),
        Gen.Const((LedgerRecord)new CloseRecord(s_key, s_spine)));

    // Logs have these bytes: they never change.
    [Fact]
    public void Bytes_of_records_are_pinned()
    {
        Assert.Equal("980101CD012C020105C092C402AABBC400",
            Hex(new EntriesRecord(s_key, 5, null, [new byte[] { 0xAA, 0xBB }, default])));
        Assert.Equal("980101CD012C020105CD0190" + "91C400",
            Hex(new EntriesRecord(s_key, 5, new LogPosition(400), [default(ReadOnlyMemory<byte>)])));
        Assert.Equal("960103CD012C0201C2", Hex(new FenceRecord(s_key)));
        Assert.Equal("9B0102CD012C0201076328930602299300061E90", Hex(new SpineRecord(s_key, s_spine)));
        Assert.Equal("9B0104CD012C0201076328930602299300061E90", Hex(new CloseRecord(s_key, s_spine)));
    }

    [Fact]
    public void Record_is_read_as_written()
    {
        s_record.Sample(static record =>
        {
            var bytes = record.Encode();
            var read = LedgerRecord.Decode(bytes);
            Assert.Equal(record.GetType(), read.GetType());
            Assert.Equal(s_key, read.Key);
            Assert.Equal(bytes, read.Encode());
            if (record is EntriesRecord { Data: var data })
            {
                Assert.True(bytes.Length <= LedgerRecord.Overhead + data.Sum(static d => d.Length)
                    + ((data.Length - 1) * EntriesRecord.EntryOverhead));
            }
        });
    }

    [Fact]
    public void Damaged_bytes_are_refused_or_another_record()
    {
        var gen = Gen.Select(s_record, Gen.Int[0, 200], Gen.Byte, Gen.Int[0, 3]);
        gen.Sample(static (record, at, value, cut) =>
        {
            var bytes = record.Encode();
            if (cut == 0) bytes = bytes[..(at % bytes.Length)];
            else bytes[at % bytes.Length] = value;
            try
            {
                var read = LedgerRecord.Decode(bytes);
                Assert.Equal(read.Encode(), LedgerRecord.Decode(read.Encode()).Encode());
            }
            catch (TangoFormatException)
            {
                // Every reader is told so.
            }
        }, iter: 20_000);
    }

    private static string Hex(LedgerRecord record) => Convert.ToHexString(record.Encode());
}
