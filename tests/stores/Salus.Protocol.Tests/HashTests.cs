namespace Salus.Protocol.Tests;

/// <summary>Hashes are part of the formats: they never change.</summary>
public sealed class HashTests
{
    private static readonly Incarnation s_signer = new(SampleMessages.Id(3));

    [Fact]
    public void Hash_of_a_block_has_the_recorded_value()
    {
        // The reference implementation's.
        Assert.Equal("99aa06d3014798d86001c324468d497f", TreeHash.OfBlock([]).ToString());
        Assert.Equal("3ee8dc4f9e7ee49593d76fe148c689ba", TreeHash.OfBlock(new byte[4096]).ToString());
        Assert.Equal("03916578969f7a66eb4b7c3707879151",
            TreeHash.OfBlock([.. Enumerable.Range(0, 4096).Select(i => (byte)i)]).ToString());
    }

    [Fact]
    public void Hash_of_children_depends_on_the_level_and_the_place()
    {
        Hash128[] children = [SampleMessages.Hash(1), default, SampleMessages.Hash(2)];
        var first = TreeHash.OfChildren(children, 1);
        Assert.Equal("7453fa04b860b966357cccb7beeb044a", first.ToString());
        Assert.NotEqual(first, TreeHash.OfChildren(children, 2));
        Assert.NotEqual(first, TreeHash.OfChildren([children[2], default, children[0]], 1));
        Assert.Equal(first, TreeHash.OfChildren([.. children, .. new Hash128[13]], 1));
    }

    [Fact]
    public void Hash_of_empty_children_is_empty() =>
        Assert.True(TreeHash.OfChildren(new Hash128[16], 3).IsEmpty);

    [Fact]
    public void Hash_is_read_as_written()
    {
        var bytes = new byte[16];
        SampleMessages.Hash(7).Write(bytes);
        Assert.Equal(SampleMessages.Hash(7), Hash128.Read(bytes));
        Assert.Equal((byte)7, bytes[0]);
    }

    [Fact]
    public void Signature_has_the_recorded_value() => Assert.Equal("6e4358a04dfb182abead538c1d3c621a",
        new Signer(s_signer).Sign(Statement.Logged(SampleMessages.Region, new Epoch(5), 9, SampleMessages.Hash(1)))
            .Value.ToString());

    [Fact]
    public void Link_of_the_chain_has_the_recorded_value() =>
        Assert.Equal("a4f95011f4df5c83074dbec049d491a4", SampleMessages.Head().Chain.ToString());
}
