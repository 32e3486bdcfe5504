namespace Craq.Client.Tests;

/// <summary>A transaction is carried out once, and its outcome is never guessed (C13, C15).</summary>
public sealed class TransactTests
{
    private static readonly ChainId s_bills = ChainId.FromName("bills");

    private static readonly CraqClientOptions s_short = new() { OperationTimeout = TimeSpan.FromMilliseconds(500) };

    [Fact]
    public async Task Transaction_goes_to_the_head_of_the_first_part_behind_marks_of_all_chains()
    {
        await using var setup = Start(_ => Committed(2));
        var (result, _) = await TransactAsync(setup);
        Assert.True(result.IsCommitted);
        var request = Assert.Single(setup.Nodes.SentOf<TransactRequest>());
        Assert.Equal(request.Parts.Select(part => part.Chain).Order(), request.Parts.Select(part => part.Chain));
        Assert.All(request.Parts, part => Assert.Equal(Setup.Mark, part.NotBefore));
        Assert.Equal(2, setup.Nodes.SentOf<ReadObjectsRequest>().Count());
        Assert.Equal(Setup.Version(11), result.VersionOf(setup.Chain));
        Assert.Equal([9UL], result.Sums(setup.Chain));
        Assert.Equal(CraqTransactionRefusal.None, result.Refusal);
    }

    [Fact]
    public async Task Repeated_transaction_carries_the_same_id_and_the_same_parts()
    {
        var attempts = 0;
        await using var setup = Start(_ => ++attempts switch
        {
            1 => Refused(CraqStatus.NotOpen),
            2 => Refused(CraqStatus.Unconfirmed),
            3 => Refused(Status.Overloaded),
            _ => Committed(2),
        });
        Assert.True((await TransactAsync(setup)).Result.IsCommitted);
        Assert.Equal(4, attempts);
        Assert.Single(setup.Nodes.SentOf<TransactRequest>().Select(one => (one.Id, one.Parts)).Distinct());
    }

    [Fact]
    public async Task Mismatch_names_the_chain_and_the_compare()
    {
        await using var setup = Start(request => Aborted(CraqStatus.Mismatch) with
        {
            Part = request.Parts[0].Chain == s_bills ? 0 : 1,
            Index = 3,
            Found = Setup.Version(4),
        });
        var (result, bills) = await TransactAsync(setup);
        Assert.Equal((CraqTransactionOutcome.Aborted, CraqTransactionRefusal.Mismatch),
            (result.Outcome, result.Refusal));
        Assert.Equal((bills.Id, 3), (result.RefusedBy, result.MismatchIndex));
        Assert.Equal(Setup.Version(4), result.MismatchVersion);
        Assert.Empty(result.Reads(bills));
    }

    [Fact]
    public async Task Outcome_that_no_lead_tells_in_time_is_unknown()
    {
        await using var setup = Start(_ => Refused(CraqStatus.Unconfirmed), s_short);
        Assert.Equal(CraqTransactionOutcome.Unknown, (await TransactAsync(setup)).Result.Outcome);
    }

    [Fact]
    public async Task Transaction_that_no_lead_took_is_an_error()
    {
        await using var setup = Start(_ => Refused(CraqStatus.NotOpen), s_short);
        await Assert.ThrowsAsync<CraqUnavailableException>(async () => await TransactAsync(setup));
    }

    [Fact]
    public async Task Forgotten_transaction_that_may_have_been_carried_out_is_unknown()
    {
        var attempts = 0;
        await using var setup = Start(_ => Refused(++attempts == 1 ? CraqStatus.Unconfirmed : CraqStatus.Forgotten));
        Assert.Equal(CraqTransactionOutcome.Unknown, (await TransactAsync(setup)).Result.Outcome);
        Assert.Equal(2, attempts);
    }

    [Fact]
    public async Task Forgotten_transaction_without_effect_is_made_anew_behind_newer_marks()
    {
        var attempts = 0;
        await using var setup = Start(_ => ++attempts == 1 ? Aborted(CraqStatus.Forgotten) : Committed(2));
        Assert.True((await TransactAsync(setup)).Result.IsCommitted);
        Assert.Equal(2, setup.Nodes.SentOf<TransactRequest>().Select(one => one.Id).Distinct().Count());
        Assert.Equal(4, setup.Nodes.SentOf<ReadObjectsRequest>().Count());
    }

    [Fact]
    public void Transaction_without_a_part_is_refused() =>
        Assert.Throws<InvalidOperationException>(() => new CraqTransaction().Build(1024));

    private static async Task<(CraqTransactionResult Result, CraqChain Bills)> TransactAsync(Setup setup)
    {
        var bills = setup.Client.Chain("bills");
        var transaction = new CraqTransaction();
        transaction.On(setup.Chain).Put("x", "a"u8.ToArray());
        transaction.On(bills).Put("y", "b"u8.ToArray());
        return (await setup.Client.TransactAsync(transaction), bills);
    }

    private static Setup Start(Func<TransactRequest, Response?> answer, CraqClientOptions? options = null)
    {
        var setup = new Setup(options);
        for (var node = 1; node <= 3; node++)
        {
            setup.Nodes.First(node, answer);
            setup.Nodes.First<ChainsRequest>(node, request => new ChainsResponse(Status.Ok, new Epoch(5))
            {
                Views = [setup.View, FakeNodes.View(s_bills, 5, (1, "east"), (2, "east"), (3, "west"))],
            });
        }

        return setup;
    }

    private static TransactResponse Refused(Status status) => new(status, new Epoch(5));

    private static TransactResponse Aborted(Status reason) => new(Status.Ok, new Epoch(5)) { Reason = reason };

    private static TransactResponse Committed(int parts) => new(Status.Ok, new Epoch(5))
    {
        IsCommitted = true,
        Parts = [.. Enumerable.Range(0, parts).Select(_ => new CommittedPart(
            Setup.Version(11), Setup.Version(11), new MutateResult([], [9])))],
    };
}
