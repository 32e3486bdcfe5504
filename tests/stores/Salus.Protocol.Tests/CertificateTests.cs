namespace Salus.Protocol.Tests;

/// <summary>S1: a signature counts for exactly the statement that it was made for, and for its signer.</summary>
public sealed class CertificateTests
{
    private static readonly Epoch s_generation = new(5);
    private static readonly RegionKey s_region = SampleMessages.Region;
    private static readonly Signer[] s_signers =
        [.. Enumerable.Range(1, 3).Select(n => new Signer(new Incarnation(SampleMessages.Id(n))))];

    private static readonly MemberSet s_members = new(s_generation, [.. s_signers.Select(s => s.Incarnation)]);

    [Fact]
    public void Certificate_of_all_members_proves_the_statement()
    {
        var statement = Statement.Prepared(s_region, s_generation, SampleMessages.Name());
        Assert.True(Signed(statement, s_signers).Proves(statement, s_members));
    }

    [Fact]
    public void Certificate_proves_no_other_statement()
    {
        var name = SampleMessages.Name();
        var statement = Statement.Prepared(s_region, s_generation, name);
        var certificate = Signed(statement, s_signers);
        foreach (var other in new[]
        {
            Statement.Prepared(s_region with { Region = 2 }, s_generation, name),
            Statement.Prepared(s_region with { Volume = new VolumeId(SampleMessages.Id(44)) }, s_generation, name),
            Statement.Prepared(s_region, new Epoch(6), name),
            Statement.Prepared(s_region, s_generation, name with { Run = 9 }),
            Statement.Prepared(s_region, s_generation, name with { Number = 43 }),
            Statement.Prepared(s_region, s_generation, name with { Digest = SampleMessages.Hash(1) }),
            Statement.Committed(s_region, s_generation, name),
            Statement.Logged(s_region, s_generation, 42, name.Digest),
        })
        {
            Assert.False(certificate.Proves(other, s_members));
        }
    }

    [Fact]
    public void Certificate_lacks_no_member_and_has_no_other()
    {
        var statement = Statement.Logged(s_region, s_generation, 9, SampleMessages.Hash(1));
        var stranger = new Signer(new Incarnation(SampleMessages.Id(7)));
        Assert.False(Signed(statement, s_signers[..2]).Proves(statement, s_members));
        Assert.False(Signed(statement, [s_signers[0], s_signers[1], stranger]).Proves(statement, s_members));
        Assert.False(Signed(statement, [s_signers[0], s_signers[0], s_signers[0]]).Proves(statement, s_members));
        Assert.False(Signed(statement, [s_signers[1], s_signers[0], s_signers[2]]).Proves(statement, s_members));
    }

    [Fact]
    public void Certificate_of_another_generation_is_no_proof()
    {
        var later = new Epoch(6);
        var statement = Statement.Logged(s_region, s_generation, 9, SampleMessages.Hash(1));
        Assert.False(Signed(statement, s_signers).Proves(statement, new MemberSet(later, s_members.Members)));
        Assert.False((Signed(statement, s_signers) with { Generation = later }).Proves(
            statement, new MemberSet(later, s_members.Members)));
    }

    [Fact]
    public void Proof_of_a_commit_names_leader_and_batch()
    {
        var name = SampleMessages.Name();
        var certificate = Signed(Statement.Committed(s_region, s_generation, name), s_signers);
        Assert.True(new CommitProof(s_region.Region, name, certificate).IsValid(s_region.Volume, s_members));
        Assert.False(new CommitProof(2, name, certificate).IsValid(s_region.Volume, s_members));
        Assert.False(new CommitProof(s_region.Region, name with { Number = 43 }, certificate).IsValid(
            s_region.Volume, s_members));
    }

    [Fact]
    public void Statements_differ_in_each_fact()
    {
        var checkpoint = new CheckpointName(1, 2, 3, 4, SampleMessages.Hash(5), SampleMessages.Hash(6));
        Statement[] statements =
        [
            .. new[]
            {
                checkpoint, checkpoint with { Number = 9 }, checkpoint with { Index = 9 },
                checkpoint with { Run = 9 }, checkpoint with { Batch = 9 },
                checkpoint with { Root = default }, checkpoint with { Digest = default },
            }.Select(name => Statement.Checkpoint(s_region, s_generation, name)),
            Statement.Opening(s_region, s_generation, 1, SampleMessages.Hash(2), SampleMessages.Name()),
            Statement.Opening(s_region, s_generation, 2, SampleMessages.Hash(2), SampleMessages.Name()),
            Statement.Opening(s_region, s_generation, 1, SampleMessages.Hash(3), SampleMessages.Name()),
            Statement.Opening(s_region, s_generation, 1, SampleMessages.Hash(2), default),
        ];
        Assert.Equal(statements.Length, statements.Select(s => s_signers[0].Sign(s)).Distinct().Count());
    }

    [Fact]
    public void Members_are_one_to_three_and_different()
    {
        var one = s_members.Members[0];
        Assert.Throws<ArgumentException>(() => new MemberSet(s_generation, []));
        Assert.Throws<ArgumentException>(() => new MemberSet(s_generation, [one, one]));
        Assert.Throws<ArgumentException>(() => new MemberSet(s_generation, [default]));
        Assert.Throws<ArgumentException>(() => new MemberSet(s_generation,
            [.. Enumerable.Range(1, 4).Select(n => new Incarnation(SampleMessages.Id(n)))]));
        Assert.Equal(2, s_members.IndexOf(s_members.Members[2]));
        Assert.Equal(-1, s_members.IndexOf(new Incarnation(SampleMessages.Id(9))));
    }

    private static Certificate Signed(in Statement statement, Signer[] signers)
    {
        var signatures = new WeakSignature[signers.Length];
        for (var i = 0; i < signers.Length; i++) signatures[i] = signers[i].Sign(statement);
        return new Certificate(statement.Generation, [.. signatures]);
    }
}
