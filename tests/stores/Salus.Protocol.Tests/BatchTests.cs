namespace Salus.Protocol.Tests;

public sealed class BatchTests
{
    [Fact]
    public void Sub_batch_comes_back_whole()
    {
        var batch = SampleMessages.Batch();
        var bytes = batch.Encode();
        var back = SubBatch.Decode(bytes, out var head);
        Assert.Equal(bytes, back.Encode());
        Assert.Equal(batch.EncodeHead(), bytes[..head]);
        Assert.Equal(batch.Digest(), back.Digest());
        Assert.Equal(batch.Header.Name, back.Header.Name);
        Assert.Equal(batch.EncodeHead(), SubBatch.DecodeHead(bytes.AsMemory(0, head)).EncodeHead());
        Assert.Equal(-1, back.FirstDamaged());
        Assert.True(back.Header.IsSigned(back.Signature));
    }

    [Fact]
    public void Bytes_of_batch_and_record_have_the_recorded_hashes()
    {
        var batch = SampleMessages.Batch();
        var record = new RegionRecord(SampleMessages.Head(), SampleMessages.Certificate(), batch.Encode());
        Assert.Equal(
            ("095e48edc4f1e80b647015301a3f5f4d", "9e3b8015fc9b14c27e781350257a7e08",
                "0c1e864cb647f028e0fd6756340cabbf"),
            (batch.Header.Digest.ToString(), batch.Digest().ToString(),
                Hash128.Of(record.Encode()).ToString()));
    }

    [Fact]
    public void Digest_of_the_record_is_that_of_the_head()
    {
        var batch = SampleMessages.Batch();
        Assert.Equal(batch.Digest(), RegionRecord.DigestOf(RegionRecordKind.Put, batch.Encode(), out _));
    }

    [Fact]
    public void Flipped_data_is_found()
    {
        var bytes = SampleMessages.Batch().Encode();
        bytes[^1] ^= 1;
        Assert.Equal(1, SubBatch.Decode(bytes, out _).FirstDamaged());
    }

    [Fact]
    public void Changed_header_has_another_name_and_no_signature()
    {
        var batch = SampleMessages.Batch();
        var changed = batch.Header with { VolumeRoot = SampleMessages.Hash(99) };
        Assert.NotEqual(batch.Header.Name, changed.Name);
        Assert.False(changed.IsSigned(batch.Signature));
        Assert.False((batch.Header with { Driver = new Incarnation(SampleMessages.Id(8)) }).IsSigned(batch.Signature));
    }

    [Fact]
    public void Previous_batch_and_root_of_a_region_are_found()
    {
        var header = SampleMessages.Header();
        Assert.Equal(SampleMessages.Hash(21), header.Find(1)!.Value.Root);
        Assert.Equal(40, header.Find(4)!.Value.Previous);
        Assert.Null(header.Find(2));
    }

    public static TheoryData<string> Faults =>
        ["leader", "order", "previous", "run", "number", "twice", "overlap", "long zero", "empty hash", "payload",
            "region", "block size", "trailing"];

    [Theory]
    [MemberData(nameof(Faults))]
    public void Impossible_sub_batch_is_refused(string fault)
    {
        var batch = SampleMessages.Batch();
        var header = batch.Header;
        var bytes = (fault switch
        {
            "leader" => batch with { Header = header with { Leader = 2 } },
            "order" => batch with { Header = header with { Participants = [.. header.Participants.Reverse()] } },
            "previous" => batch with
            {
                Header = header with
                {
                    Participants = header.Participants.SetItem(0, header.Participants[0] with { Previous = 42 }),
                },
            },
            "run" => batch with { Header = header with { Run = 0 } },
            "number" => batch with { Header = header with { Number = 0 } },
            "twice" => batch with { Writes = [batch.Writes[0], batch.Writes[0]] },
            "overlap" => batch with { Zeros = [new ZeroRange(6, 4)] },
            "long zero" => batch with { Zeros = [new ZeroRange(100, 1 << 18)] },
            "empty hash" => batch with { Writes = [batch.Writes[0], batch.Writes[1] with { Hash = default }] },
            "payload" => batch with { Payload = batch.Payload[1..] },
            "region" => batch with { Region = 2 },
            "block size" => batch with { BlockSize = 4095 },
            _ => batch,
        }).Encode();
        if (fault == "trailing") bytes = [.. bytes, 0];
        Assert.Throws<MalformedDataException>(() => SubBatch.Decode(bytes, out _));
    }

    [Fact]
    public void Contents_of_records_come_back_whole()
    {
        var opening = new Opening(3, SampleMessages.Name());
        Assert.Equal(opening, Opening.Decode(opening.Encode()));
        Assert.Equal(new CutRecord(4), CutRecord.Decode(new CutRecord(4).Encode()));
        var compact = new CompactRecord([2, 3, 7], 9);
        Assert.Equal(compact, CompactRecord.Decode(compact.Encode()));
        Assert.Throws<MalformedDataException>(() => CutRecord.Decode(new CutRecord(0).Encode()));
        Assert.Throws<MalformedDataException>(() => CompactRecord.Decode(new CompactRecord([3, 2], 9).Encode()));
        Assert.Throws<MalformedDataException>(() => CompactRecord.Decode(new CompactRecord([3], 3).Encode()));
        Assert.Throws<MalformedDataException>(() => CompactRecord.Decode(new CompactRecord([], 3).Encode()));
    }

    [Fact]
    public void Record_comes_back_whole()
    {
        var record = new RegionRecord(
            SampleMessages.Head(), SampleMessages.Certificate(), SampleMessages.Batch().Encode());
        var back = RegionRecord.Decode(record.Encode());
        Assert.Equal((record.Head, record.Certificate), (back.Head, back.Certificate));
        Assert.Equal(record.Content.ToArray(), back.Content.ToArray());
    }

    [Fact]
    public void Chain_differs_in_each_part_of_a_record()
    {
        var head = SampleMessages.Head();
        Hash128[] chains =
        [
            head.Chain, (head with { Kind = RegionRecordKind.Open }).Chain, (head with { Index = 10 }).Chain,
            (head with { Generation = new Epoch(6) }).Chain, (head with { Previous = default }).Chain,
            (head with { Digest = SampleMessages.Hash(80) }).Chain,
        ];
        Assert.Equal(chains.Length, chains.Distinct().Count());
    }
}
