using Salus.Writes;

namespace Salus.Client.Tests;

/// <summary>The requests of a batch, made into changes of one region.</summary>
public sealed class RegionChangesTests
{
    private const int BlockSize = 4096;
    private const int Blocks = 64;

    [Fact]
    public void Changes_are_the_last_ones_of_each_block_in_order()
    {
        var random = new Random(5);
        for (var round = 0; round < 300; round++)
        {
            var changes = new RegionChanges(3, BlockSize);
            // By block: null: unchanged; empty: cleared.
            var model = new byte[]?[Blocks];
            for (var i = random.Next(1, 40); i > 0; i--)
            {
                var first = random.Next(Blocks);
                var count = random.Next(1, Math.Min(12, Blocks - first) + 1);
                var data = random.Next(3) == 0 ? [] : new byte[count * BlockSize];
                random.NextBytes(data);
                changes.Add(first, count, data);
                for (var block = 0; block < count; block++)
                    model[first + block] = data.Length == 0 ? [] : data[(block * BlockSize)..][..BlockSize];
            }

            Check(changes.Copy(participants: 1), model);
        }
    }

    [Fact]
    public void Draft_is_sent_as_a_sub_batch_that_comes_back_whole()
    {
        var changes = new RegionChanges(1, BlockSize);
        changes.Add(5, 2, new byte[2 * BlockSize]);
        changes.Add(9, 30, default);
        var draft = changes.Copy(participants: 2);
        var signer = new Signer(new Incarnation(new Guid(1, 2, 3, new byte[8])));
        var header = new BatchHeader
        {
            Volume = new VolumeId(new Guid(4, 0, 0, new byte[8])),
            Run = 2,
            Number = 7,
            Driver = signer.Incarnation,
            Participants = [new Participant(0, 6, Hash128.Of([1])), new Participant(1, 5, Hash128.Of([2]))],
            Leader = 0,
            PreviousLeader = 1,
            VolumeRoot = Hash128.Of([3]),
        };
        var part = draft.Number(new Batch(isMarker: false, []), header, header.SignedBy(signer));
        var sent = SubBatch.Decode(part.Bytes, out _);
        Assert.Equal(header, sent.Header);
        Assert.True(sent.Header.IsSigned(sent.Signature));
        Assert.Equal(draft.Writes, sent.Writes);
        Assert.Equal([new ZeroRange(9, 30)], sent.Zeros);
        Assert.Equal(-1, sent.FirstDamaged());
        Assert.True(part.DataOf(9, BlockSize).IsEmpty);
        Assert.Equal(BlockSize, part.DataOf(6, BlockSize).Length);
    }

    private static void Check(PartDraft draft, byte[]?[] model)
    {
        var (write, seen) = (0, new byte[]?[Blocks]);
        foreach (var one in draft.Writes)
        {
            var data = draft.Payload.Slice(write++ * BlockSize, BlockSize);
            Assert.Equal(TreeHash.OfBlock(data.Span), one.Hash);
            seen[one.Block] = data.ToArray();
        }

        var end = 0;
        foreach (var zero in draft.Zeros)
        {
            Assert.True(zero.First >= end && zero.Count > 0);
            end = zero.End;
            for (var block = zero.First; block < zero.End; block++)
            {
                Assert.Null(seen[block]);
                seen[block] = [];
            }
        }

        for (var block = 0; block < Blocks; block++)
        {
            Assert.Equal(model[block] is null, seen[block] is null);
            Assert.True(model[block].AsSpan().SequenceEqual(seen[block]), $"block {block}");
        }

        var blocks = draft.Writes.Select(static one => one.Block).ToArray();
        Assert.Equal(blocks.Order(), blocks);
    }
}
