namespace Craq.Client.Tests;

/// <summary>A write is applied once, and its outcome is never guessed (C13).</summary>
public sealed class WriteTests
{
    private static readonly byte[] s_value = "v"u8.ToArray();

    [Fact]
    public async Task Write_goes_to_the_head_behind_a_mark_that_was_asked_for()
    {
        await using var setup = new Setup();
        var result = await setup.Chain.PutAsync("k", s_value);
        Assert.Equal(WriteOutcome.Written, result.Outcome);
        Assert.True(result.IsCommitted);
        var request = Assert.Single(setup.Nodes.SentOf<MutateRequest>());
        Assert.Equal(Setup.Mark, request.NotBefore);
        Assert.Equal([FakeNodes.Node(1)], setup.Nodes.AskedFor<MutateRequest>());
        await setup.Chain.PutAsync("k", s_value);
        Assert.Single(setup.Nodes.SentOf<ReadObjectsRequest>());
        Assert.Equal(Setup.Version(11), setup.Nodes.SentOf<MutateRequest>().Last().NotBefore);
    }

    [Fact]
    public async Task Repeated_write_carries_the_same_id_and_the_same_mark()
    {
        await using var setup = new Setup();
        var attempts = 0;
        setup.Nodes.First<MutateRequest>(1, _ => ++attempts switch
        {
            1 => Setup.Refused(Status.Overloaded),
            2 => Setup.Refused(CraqStatus.NotOpen),
            3 => Setup.Refused(CraqStatus.Unconfirmed),
            _ => null,
        });
        Assert.True((await setup.Chain.PutAsync("k", s_value)).IsWritten);
        Assert.Equal(4, attempts);
        Assert.Single(setup.Nodes.SentOf<MutateRequest>().Select(one => (one.Id, one.NotBefore)).Distinct());
    }

    [Fact]
    public async Task Head_that_changed_is_followed_by_the_view_of_the_answer()
    {
        await using var setup = new Setup();
        var next = FakeNodes.View(Setup.Orders, 6, (2, "east"), (3, "west"));
        setup.Nodes.First<MutateRequest>(1, _ => Setup.Refused(CraqStatus.WrongRole, next));
        Assert.True((await setup.Chain.PutAsync("k", s_value)).IsWritten);
        Assert.Equal([FakeNodes.Node(1), FakeNodes.Node(2)], setup.Nodes.AskedFor<MutateRequest>());
        Assert.Equal([5, 6], setup.Nodes.SentOf<MutateRequest>().Select(one => one.Epoch.Value));
        Assert.Equal(6, setup.Chain.Config!.Epoch.Value);
    }

    [Fact]
    public async Task Silent_head_makes_the_client_ask_other_nodes()
    {
        await using var setup = new Setup();
        await setup.Chain.PutAsync("k", s_value);
        setup.View = FakeNodes.View(Setup.Orders, 6, (2, "east"), (3, "west"));
        setup.Nodes.On(1, _ => null);
        Assert.True((await setup.Chain.PutAsync("k", s_value)).IsWritten);
        var repeated = setup.Nodes.SentOf<MutateRequest>().TakeLast(2).ToList();
        Assert.Equal(repeated[0].Id, repeated[1].Id);
        Assert.Equal(FakeNodes.Node(2), setup.Nodes.AskedFor<MutateRequest>().Last());
    }

    [Fact]
    public async Task View_of_another_chain_or_of_an_older_epoch_is_not_followed()
    {
        await using var setup = new Setup();
        var attempts = 0;
        setup.Nodes.First<MutateRequest>(1, _ => ++attempts switch
        {
            1 => Setup.Refused(Status.Sealed, FakeNodes.View(ChainId.FromName("other"), 9, (3, "west"))),
            2 => Setup.Refused(Status.Sealed, FakeNodes.View(Setup.Orders, 4, (3, "west"))),
            _ => null,
        });
        Assert.True((await setup.Chain.PutAsync("k", s_value)).IsWritten);
        Assert.All(setup.Nodes.AskedFor<MutateRequest>(), node => Assert.Equal(FakeNodes.Node(1), node));
        Assert.Equal(5, setup.Chain.Config!.Epoch.Value);
    }

    [Fact]
    public async Task Mismatch_of_the_first_attempt_is_the_outcome()
    {
        await using var setup = new Setup();
        setup.Nodes.First<MutateRequest>(1, _ => Setup.Mismatch(0));
        var result = await setup.Chain.DeleteAsync("k");
        Assert.Equal(WriteOutcome.Mismatch, result.Outcome);
        Assert.Equal(0, result.MismatchIndex);
        Assert.Equal(Setup.Version(4), result.Version);
        Assert.False(result.IsCommitted);
    }

    /// <summary>The first attempt may still arrive and find an object that compares.</summary>
    [Fact]
    public async Task Mismatch_after_an_attempt_without_answer_is_unknown()
    {
        await using var setup = new Setup();
        AnswerSecond(setup, Setup.Mismatch(0));
        Assert.Equal(WriteOutcome.Unknown, (await setup.Chain.DeleteAsync("k")).Outcome);
    }

    [Fact]
    public async Task Mismatch_of_absence_after_an_attempt_without_answer_is_unknown()
    {
        await using var setup = new Setup();
        AnswerSecond(setup, Setup.Mismatch(0));
        var result = await setup.Chain.CompareAndSetAsync("k", ObjectVersion.None, s_value);
        Assert.Equal(WriteOutcome.Unknown, result.Outcome);
    }

    /// <summary>A version never returns (C1), so no attempt of any time compares.</summary>
    [Fact]
    public async Task Mismatch_of_a_version_is_final_for_every_attempt()
    {
        await using var setup = new Setup();
        AnswerSecond(setup, Setup.Mismatch(0));
        var result = await setup.Chain.CompareAndSetAsync("k", Setup.Version(3), s_value);
        Assert.Equal(WriteOutcome.Mismatch, result.Outcome);
    }

    [Fact]
    public async Task Write_that_the_window_has_passed_is_made_anew_with_a_newer_mark()
    {
        await using var setup = new Setup();
        await setup.Chain.PutAsync("k", s_value);
        setup.Nodes.First<MutateRequest>(
            1, one => one.NotBefore < Setup.Version(90) ? Setup.Refused(CraqStatus.Forgotten) : null);
        setup.Nodes.First<ReadObjectsRequest>(1, read => Setup.Found(read, Setup.Version(90)));
        Assert.True((await setup.Chain.PutAsync("k", s_value)).IsWritten);
        var sent = setup.Nodes.SentOf<MutateRequest>().TakeLast(2).ToList();
        Assert.NotEqual(sent[0].Id, sent[1].Id);
        Assert.Equal(Setup.Version(90), sent[1].NotBefore);
    }

    [Fact]
    public async Task Forgotten_after_an_attempt_without_answer_is_unknown()
    {
        await using var setup = new Setup();
        AnswerSecond(setup, Setup.Refused(CraqStatus.Forgotten));
        Assert.Equal(WriteOutcome.Unknown, (await setup.Chain.PutAsync("k", s_value)).Outcome);
        Assert.Single(setup.Nodes.SentOf<MutateRequest>().Select(one => one.Id).Distinct());
    }

    [Theory]
    [InlineData(Status.Overloaded)]
    [InlineData(CraqStatus.NotOpen)]
    [InlineData(CraqStatus.Locked)]
    [InlineData(Status.NoSpace)]
    public async Task Write_that_every_attempt_refused_is_an_error_at_the_deadline(Status status)
    {
        await using var setup = new Setup();
        setup.Nodes.First<MutateRequest>(1, _ => Setup.Refused(status));
        var error = await Assert.ThrowsAsync<CraqUnavailableException>(
            async () => await setup.Chain.PutAsync("k", s_value));
        Assert.Equal(status, error.Status);
        Assert.Contains("given up after 10 s", error.Message);
    }

    [Fact]
    public async Task Write_without_answer_is_unknown_at_the_deadline_whatever_came_later()
    {
        await using var setup = new Setup();
        AnswerSecond(setup, Setup.Refused(Status.Overloaded));
        Assert.Equal(WriteOutcome.Unknown, (await setup.Chain.PutAsync("k", s_value)).Outcome);
    }

    [Fact]
    public async Task Write_that_never_left_is_an_error()
    {
        await using var setup = new Setup();
        await setup.Chain.GetAsync("k");
        for (var node = 1; node <= 3; node++)
            setup.Nodes.First<MutateRequest>(
                node, _ => throw new TransportException("refused.", outcomeUnknown: false));
        await Assert.ThrowsAsync<CraqUnavailableException>(async () => await setup.Chain.PutAsync("k", s_value));
    }

    [Fact]
    public async Task Refusal_for_good_ends_the_write_at_once()
    {
        await using var setup = new Setup();
        setup.Nodes.First<MutateRequest>(1, _ => Setup.Refused(Status.Denied));
        await Assert.ThrowsAsync<CorfuDeniedException>(async () => await setup.Chain.PutAsync("k", s_value));
        Assert.Single(setup.Nodes.SentOf<MutateRequest>());
    }

    [Fact]
    public async Task Too_large_a_value_is_refused_before_anything_is_sent()
    {
        await using var setup = new Setup(new CraqClientOptions { MaxValue = 100 });
        await Assert.ThrowsAsync<ArgumentException>(async () => await setup.Chain.PutAsync("k", new byte[101]));
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await setup.Chain.MutateAsync(new MutateBuilder().Put("k", new byte[101])));
        Assert.Empty(setup.Nodes.Sent);
    }

    [Fact]
    public async Task Mutation_is_sent_whole_and_the_results_come_back()
    {
        await using var setup = new Setup();
        setup.Nodes.First<MutateRequest>(1, one => Setup.Written() with
        {
            Result = new MutateResult(
                [.. one.Reads.Select(key => new ObjectResult(
                    Status.Ok, Setup.Version(2), false, 0, 0, 1, key.Bytes))], [42]),
        });
        var result = await setup.Chain.MutateAsync(new MutateBuilder().IfExists("a").IfVersion("b", Setup.Version(2))
            .Read("c").Put("a", s_value, 5, DateTimeOffset.FromUnixTimeMilliseconds(9_000)).Add("n", -3).Delete("b"));
        Assert.Equal(42UL, result.Sum);
        Assert.Equal("c"u8.ToArray(), Assert.Single(result.Reads).Value.ToArray());
        var sent = Assert.Single(setup.Nodes.SentOf<MutateRequest>());
        Assert.Equal([ObjectCompareKind.Exists, ObjectCompareKind.Version], sent.Compares.Select(one => one.Kind));
        Assert.Equal([ObjectOperationKind.Put, ObjectOperationKind.Add, ObjectOperationKind.Delete],
            sent.Operations.Select(one => one.Kind));
        Assert.Equal((5U, 9_000L), (sent.Operations[0].Flags, sent.Operations[0].Expiry));
        Assert.Equal(-3, sent.Operations[1].Delta);
    }

    [Fact]
    public async Task Write_answered_at_the_head_is_said_to_be_uncommitted()
    {
        await using var setup = new Setup();
        setup.Nodes.First<MutateRequest>(1, one =>
            one.AtHead ? Setup.Written(20) with { Mark = Setup.Version(19) } : null);
        var result = await setup.Chain.MutateAsync(new MutateBuilder().Put("k", s_value).AnswerAtHead());
        Assert.True(result.IsWritten);
        Assert.False(result.IsCommitted);
    }

    // The first attempt has no answer, and each later one has this.
    private static void AnswerSecond(Setup setup, MutateResponse answer)
    {
        var attempts = 0;
        setup.Nodes.First<MutateRequest>(1, _ => ++attempts == 1
            ? throw new TransportException("lost.", outcomeUnknown: true)
            : answer);
    }
}
