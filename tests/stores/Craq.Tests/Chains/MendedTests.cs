using Craq.Coordination;
using Craq.Tests.Coordination;

namespace Craq.Tests.Chains;

/// <summary>Faults of a chain that reviews found, each as the case that showed it.</summary>
public sealed class MendedTests
{
    private static readonly string s_large = new('v', 1 << 20);

    [Fact]
    public void Read_fails_when_the_store_fails_before_the_value_is_loaded() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var gate = new TaskCompletionSource<bool>();
        var loads = 0;
        chain.Store(2).Loses = _ => ++loads == 1 ? gate.Task : Task.FromResult(false);
        var read = chain.ReadAsync(2, "x");
        await chain.UntilAsync(() => loads == 1);
        chain.Node(2).OnFailed(new IOException("The disk is gone."));
        gate.SetResult(true);
        Assert.Equal(Status.Failed, (await read).Status);
    });

    /// <summary>C18.</summary>
    [Fact]
    public void Object_chosen_anew_raises_the_mark_of_the_answer() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "old");
        var gate = new TaskCompletionSource<bool>();
        var loads = 0;
        chain.Store(2).Loses = _ => ++loads == 1 ? gate.Task : Task.FromResult(false);
        var read = chain.ReadAsync(2, "x", ObjectReadMode.Session);
        await chain.UntilAsync(() => loads == 1);
        var version = await chain.PutAsync("x", "new");
        await chain.UntilAsync(() => chain.MarkOf(2) >= version);
        gate.SetResult(true);
        var answer = await read;
        Assert.Equal("new", TestChain.ValueOf(answer));
        Assert.Equal(version, answer.Objects[0].Version);
        Assert.True(answer.Mark >= version);
    });

    /// <summary>C13: the floor of refusals is above every mark then.</summary>
    [Fact]
    public void Refusals_at_the_newest_mark_leave_the_chain_open() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        for (var i = 0; i < 6; i++)
        {
            var answer = await chain.MutateAsync(Mismatch(chain) with { NotBefore = chain.LastOf(1) });
            Assert.Equal(CraqStatus.Mismatch, answer.Status);
            await chain.UntilAsync(() => chain.MarkOf(1) == chain.LastOf(1));
        }

        await chain.PutWithMarkAsync("x", "w", chain.MarkOf(1));
        Assert.Equal("w", await chain.GetAsync(2, "x"));
    }, node: new CraqNodeOptions { MaxWindowIds = 4 });

    /// <summary>C13.</summary>
    [Fact]
    public void Refusals_with_marks_made_up_leave_the_chain_open() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var mark = new ObjectVersion(long.MaxValue - 1);
        for (var i = 0; i < 6; i++)
            Assert.False((await chain.MutateAsync(Mismatch(chain) with { NotBefore = mark })).IsOk);
        await chain.PutWithMarkAsync("x", "w", chain.MarkOf(1));
        Assert.Equal("w", await chain.GetAsync(2, "x"));
    }, node: new CraqNodeOptions { MaxWindowIds = 4 });

    [Fact]
    public void Mutation_with_reads_beyond_a_frame_is_refused_before_any_value_is_loaded() =>
        TestChain.Run(async chain =>
        {
            for (var i = 0; i < 9; i++) await chain.PutAsync($"k{i}", s_large);
            var loads = 0;
            chain.Store(1).Loses = _ =>
            {
                loads++;
                return Task.FromResult(false);
            };
            var answer = await chain.MutateAsync(chain.Mutation() with
            {
                Reads = [.. Enumerable.Range(0, 9).Select(i => new ObjectKey($"k{i}"))],
            });
            Assert.Equal(Status.TooLarge, answer.Status);
            Assert.Equal(0, loads);
        });

    [Fact]
    public void Mutation_with_too_many_joined_bytes_is_refused_without_a_change() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        var append = new ObjectOperation(
            ObjectOperationKind.Append, "x", 0, ObjectOperation.KeepExpiry, "+"u8.ToArray());
        var put = TestChain.Put("x", s_large);
        var answer = await chain.MutateAsync(chain.Mutation([put, .. Enumerable.Repeat(append, 100)]));
        Assert.Equal(Status.TooLarge, answer.Status);
        Assert.Equal(version, (await chain.ReadAsync(2, "x")).Objects[0].Version);
        Assert.Equal(Status.Ok, (await chain.MutateAsync(chain.Mutation(put, append, append))).Status);
    });

    [Fact]
    public void Read_of_slots_on_the_disk_ends_at_the_budget() => TestChain.Run(async chain =>
    {
        for (var i = 0; i < 6; i++) await chain.PutAsync($"k{i}", s_large);
        await chain.UntilAsync(() => chain.MarkOf(2) == chain.LastOf(1));
        chain.Store(2).IsCold = true;
        var answer = await chain.CallAsync(2,
            new ReadObjectsRequest(chain.Config.Epoch, chain.Id, ObjectReadMode.Eventual,
            [.. Enumerable.Range(0, 6).Select(i => new ObjectKey($"k{i}"))]));
        Assert.Equal(Status.Ok, answer.Status);
        Assert.NotEmpty(answer.Objects);
        Assert.All(answer.Objects, item => Assert.Equal(s_large.Length, item.Value.Length));
        Assert.InRange(answer.Objects.Sum(item => item.Value.Length), 1, MessageLimits.ReadBudget + s_large.Length);
    });

    [Fact]
    public void Mutation_without_a_commit_gives_the_place_back() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Store(3).IsHeld = true;
        Task<MutateResponse>[] writes =
        [
            chain.MutateAsync(chain.Mutation(TestChain.Put("x", "a"))),
            chain.MutateAsync(chain.Mutation(TestChain.Put("x", "b"))),
        ];
        await chain.UntilAsync(() => chain.LastOf(1).Counter == 4);
        var refused = await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "c")));
        Assert.Equal(Status.Overloaded, refused.Status);
        await chain.UntilAsync(() => writes.All(write => write.IsCompleted));
        foreach (var write in writes) Assert.Equal(CraqStatus.Unconfirmed, (await write).Status);
        chain.Store(3).GoOn();
        await chain.PutAsync("x", "d");
        Assert.Equal("d", await chain.GetAsync(2, "x"));
    }, node: new CraqNodeOptions { MaxWaiting = 2 });

    [Fact]
    public void Epoch_opened_while_the_earlier_epoch_is_recorded_is_recorded_too() => TestChain.Run(async chain =>
    {
        var gate = new TaskCompletionSource();
        chain.Access(1).Opening = () => gate.Task;
        var before = chain.Change(new ChainChange.Renew());
        await chain.UntilAsync(() => chain.MarkOf(1) >= ObjectVersion.First(before.Epoch));
        var after = chain.Change(Samples.Remove(3));
        await chain.UntilAsync(() => chain.MarkOf(1) >= ObjectVersion.First(after.Epoch));
        Assert.False(chain.Config.IsRecordedOpen);
        gate.SetResult();
        await chain.OpenedAsync();
        Assert.Equal(after.Epoch, chain.Config.Epoch);
    });

    [Fact]
    public void Config_refused_by_a_full_store_is_taken_once_there_is_room() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await chain.DelayAsync(500);
        chain.Store(1).IsFull = true;
        var before = chain.EpochOf(1);
        chain.Change(new ChainChange.Renew());
        await chain.UntilAsync(() => chain.EpochOf(2) == chain.Config.Epoch);
        await chain.DelayAsync(500);
        Assert.Equal(before, chain.EpochOf(1));
        chain.Store(1).IsFull = false;
        await chain.OpenedAsync();
        await chain.PutAsync("x", "w");
    });

    /// <summary>C1.</summary>
    [Fact]
    public void Chain_stopped_by_another_log_answers_waiting_reads() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        var first = ObjectVersion.First(chain.Config.Epoch);
        var gate = new TaskCompletionSource();
        chain.Network.Holds = (_, _, request) => request is ConfirmRequest ? gate.Task : Task.CompletedTask;
        var read = chain.ReadAsync(2, "x");
        await chain.UntilAsync(() => chain.Network.Sent.Any(sent => sent.Request is ConfirmRequest));
        var forged = Record(chain, version, first, "w");
        var answer = await chain.CallAsync(2,
            new ReplicateRequest(chain.Config.Epoch, chain.Id, first, ObjectVersion.None, [forged]));
        Assert.Equal(Status.Failed, answer.Status);
        await chain.UntilAsync(() => read.IsCompleted);
        Assert.Equal(Status.Failed, (await read).Status);
        gate.SetResult();
    });

    /// <summary>C1.</summary>
    [Fact]
    public void Older_record_absent_from_the_log_stops_the_chain_at_the_node() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        chain.Change(new ChainChange.Renew());
        await chain.OpenedAsync();
        var forged = Record(chain, version.Next(), version, "w");
        var answer = await chain.CallAsync(2,
            new ReplicateRequest(chain.Config.Epoch, chain.Id, version, ObjectVersion.None, [forged]));
        Assert.Equal(Status.Failed, answer.Status);
    });

    [Fact]
    public void Record_before_a_damaged_record_becomes_durable() => TestChain.Run(async chain =>
    {
        var version = await chain.PutAsync("x", "v");
        // Marks are stored, so nothing else goes to the disk of node 2.
        await chain.DelayAsync(500);
        var gate = new TaskCompletionSource();
        chain.Network.Holds = (from, _, request) =>
            from == Samples.Id(1) && request is ReplicateRequest { Records.Length: > 0 }
                ? gate.Task
                : Task.CompletedTask;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")));
        await chain.UntilAsync(() => SentBehind(chain, version) is not null);
        var sound = SentBehind(chain, version)!.Records[0];
        var damaged = Record(chain, version.Next().Next(), version.Next(), "z");
        damaged[^1] ^= 1;
        var answer = await chain.CallAsync(2,
            new ReplicateRequest(chain.Config.Epoch, chain.Id, version, ObjectVersion.None, [sound, damaged]));
        Assert.Equal(Status.BadRequest, answer.Status);
        chain.Network.Holds = null;
        gate.SetResult();
        await chain.UntilAsync(() => write.IsCompleted);
        Assert.Equal(Status.Ok, (await write).Status);
        Assert.Equal("w", await chain.GetAsync(3, "x"));
    });

    [Fact]
    public void Transport_failing_at_once_starts_rounds_singly() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        var failed = new List<DateTimeOffset>();
        chain.Network.Holds = (_, _, request) =>
        {
            if (request is not ConfirmRequest || failed.Count == 6) return Task.CompletedTask;
            failed.Add(chain.Time.GetUtcNow());
            throw new TransportException("No route.", outcomeUnknown: false);
        };
        Assert.Equal("v", await chain.GetAsync(2, "x"));
        // Nodes 1 and 3 are asked once in each round.
        Assert.Equal(6, failed.Count);
        Assert.All(failed.GroupBy(at => at), round => Assert.Equal(2, round.Count()));
    }, node: new CraqNodeOptions { LoggedAfter = TimeSpan.FromSeconds(60) });

    /// <summary>C13: the record that raises the mark to the floor is appended when the disk has room again.</summary>
    [Fact]
    public void Refusals_on_a_full_disk_block_no_write_once_there_is_room() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        await chain.UntilAsync(() => chain.MarkOf(1) == chain.LastOf(1));
        chain.Store(1).IsFull = true;
        for (var i = 0; i < 6; i++) await chain.MutateAsync(Mismatch(chain) with { NotBefore = chain.MarkOf(1) });
        chain.Store(1).IsFull = false;
        var answer = await chain.MutateAsync(chain.Mutation(TestChain.Put("x", "w")) with
        {
            NotBefore = chain.MarkOf(1),
        });
        Assert.Equal(CraqStatus.Forgotten, answer.Status);
        await chain.UntilAsync(() => chain.MarkOf(1) == chain.LastOf(1));
        await chain.PutWithMarkAsync("x", "w", chain.MarkOf(1));
    }, node: new CraqNodeOptions { MaxWindowIds = 4 });

    [Fact]
    public void Mutation_with_many_operations_on_one_object_loads_the_value_once() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", s_large);
        var loads = 0;
        chain.Store(1).Loses = _ =>
        {
            loads++;
            return Task.FromResult(false);
        };
        var append = new ObjectOperation(
            ObjectOperationKind.Append, "x", 0, ObjectOperation.KeepExpiry, "+"u8.ToArray());
        var answer = await chain.MutateAsync(chain.Mutation([.. Enumerable.Repeat(append, 12)]));
        Assert.Equal(Status.Ok, answer.Status);
        Assert.Equal(1, loads);
    });

    [Fact]
    public void Mutation_gives_the_place_back_behind_repeated_requests() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Store(3).IsHeld = true;
        var first = chain.Mutation(TestChain.Put("x", "a"));
        _ = chain.MutateAsync(first);
        await chain.UntilAsync(() => chain.LastOf(1).Counter == 3);
        var second = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "b")));
        // A client repeats the first request each second: its newest copy is young, and waits for an older version.
        for (var i = 0; i < 25 && !second.IsCompleted; i++)
        {
            _ = chain.MutateAsync(first);
            await chain.DelayAsync(1000);
        }

        Assert.True(second.IsCompleted);
        chain.Store(3).GoOn();
    });

    [Fact]
    public void Mutation_answered_at_the_head_gives_the_place_back() => TestChain.Run(async chain =>
    {
        await chain.PutAsync("x", "v");
        chain.Store(1).IsHeld = true;
        var write = chain.MutateAsync(chain.Mutation(TestChain.Put("x", "a")) with { AtHead = true });
        await chain.UntilAsync(() => write.IsCompleted);
        Assert.Equal(CraqStatus.Unconfirmed, (await write).Status);
        chain.Store(1).GoOn();
    });

    private static MutateRequest Mismatch(TestChain chain) => chain.Mutation(TestChain.Put("y", "v")) with
    {
        Compares = [new ObjectCompare("y", ObjectCompareKind.Exists, default, default)],
    };

    private static byte[] Record(TestChain chain, ObjectVersion version, ObjectVersion previous, string value) =>
        RecordCodec.Encode(new ChainRecord(chain.Id, ChainRecordKind.Write, version, previous, [],
            [new ObjectWrite("y", 0, 0, System.Text.Encoding.UTF8.GetBytes(value))]));

    private static ReplicateRequest? SentBehind(TestChain chain, ObjectVersion version) => chain.Network.Sent
        .Where(sent => sent.To == Samples.Id(2)).Select(sent => sent.Request).OfType<ReplicateRequest>()
        .FirstOrDefault(request => request.Previous == version && !request.Records.IsEmpty);
}
