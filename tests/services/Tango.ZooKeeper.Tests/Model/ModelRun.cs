namespace Tango.ZooKeeper.Tests;

/// <summary>A step of a random program, on the tree and on the plain one.</summary>
internal abstract record Step
{
    public abstract void Run(ModelRun run);
}

internal sealed record Request(TreeOp Op, Caller Caller) : Step
{
    public override void Run(ModelRun run)
    {
        var header = new RequestHeader(Caller.Session, Caller.Attachment, 1, Caller.Time, Caller.Ids);
        var effect = run.Apply(new RequestRecord(header, Op), Caller);
        var error = run.Plain.CheckSession();
        TreeResult expected = error != ZooKeeperError.Ok ? new OpResult(error)
            : Op is NodeOp op ? run.Plain.Run(op)
            : Op is MultiOp multi ? run.Plain.RunMulti(multi)
            : Close(run.Plain);
        run.Expect(expected, effect);
        if (Op is MultiOp { Parts.Length: > 1 })
            run.Seen.Add(expected.Error == ZooKeeperError.Ok ? "multi done" : "multi failed");
        if (Op is CloseSessionOp && effect.Changes.Length > 0) run.Seen.Add("closed with nodes");
    }

    private OpResult Close(PlainTree plain)
    {
        if (Caller.Session == 0) return new OpResult(ZooKeeperError.SessionExpired);
        plain.End(Caller.Session);
        return new OpResult(ZooKeeperError.Ok);
    }
}

internal sealed record Start(long Session, long FrontEnd) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new CreateSessionRecord(Session, (UInt128)Session, 1_000, FrontEnd));
        var may = run.Plain.FrontEnds.GetValueOrDefault(FrontEnd) is { IsDown: false }
            && !run.Plain.Sessions.ContainsKey(Session);
        if (may) run.Plain.Sessions[Session] = new PlainSession { Attachment = 1, FrontEnd = FrontEnd };
        run.Expect(new SessionResult(may ? ZooKeeperError.Ok : ZooKeeperError.SystemError, Session, may ? 1 : 0),
            effect);
    }
}

internal sealed record Attach(long Session, long FrontEnd) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new AttachRecord(Session, (UInt128)Session, 1_000, FrontEnd));
        SessionResult expected;
        if (run.Plain.FrontEnds.GetValueOrDefault(FrontEnd) is not { IsDown: false })
        {
            expected = new SessionResult(ZooKeeperError.SystemError, Session, 0);
        }
        else if (!run.Plain.Sessions.TryGetValue(Session, out var session))
        {
            expected = new SessionResult(ZooKeeperError.SessionExpired, Session, 0);
        }
        else
        {
            (session.FrontEnd, session.Attachment) = (FrontEnd, session.Attachment + 1);
            run.Plain.DropEmptyFrontEnds();
            expected = new SessionResult(ZooKeeperError.Ok, Session, session.Attachment);
        }

        run.Expect(expected, effect);
    }
}

internal sealed record Expire(long FrontEnd, long LastBeat, int Attachment) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new ExpireRecord(
            FrontEnd, LastBeat, [new ExpiredSession(2, Attachment), new ExpiredSession(1, Attachment)]));
        var ended = ImmutableArray.CreateBuilder<long>();
        foreach (var id in (long[])[2, 1])
        {
            if (run.Plain.FrontEnds.GetValueOrDefault(FrontEnd)?.Beat != LastBeat
                || run.Plain.Sessions.GetValueOrDefault(id) is not { } session
                || (session.FrontEnd, session.Attachment) != (FrontEnd, Attachment)) continue;
            run.Plain.End(id);
            ended.Add(id);
        }

        run.Expect(new ExpireResult(ended.ToImmutable()), effect);
        if (effect.Changes.Length > 0) run.Seen.Add("expired with nodes");
    }
}

internal sealed record Up(long FrontEnd) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new FrontEndUpRecord(FrontEnd, 1, "somewhere"));
        var may = run.Plain.FrontEnds.TryAdd(FrontEnd, new PlainFrontEnd());
        run.ExpectDone(may, effect);
    }
}

internal sealed record Beat(long FrontEnd, long Number) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new BeatRecord(FrontEnd, Number));
        var row = run.Plain.FrontEnds.GetValueOrDefault(FrontEnd);
        var may = row is { IsDown: false } && Number > row.Beat;
        if (may) row!.Beat = Number;
        run.ExpectDone(may, effect);
    }
}

internal sealed record Down(long FrontEnd, long LastBeat) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new FrontEndDownRecord(FrontEnd, LastBeat));
        var row = run.Plain.FrontEnds.GetValueOrDefault(FrontEnd);
        var may = row is { IsDown: false } && LastBeat == row.Beat;
        if (may) row!.IsDown = true;
        run.Plain.DropEmptyFrontEnds();
        run.ExpectDone(may, effect);
    }
}

internal sealed record Configure(bool TtlNodes, bool EnforceQuota) : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new ConfigureRecord(null, TtlNodes, EnforceQuota));
        (run.Plain.TtlNodes, run.Plain.EnforceQuota) = (TtlNodes, EnforceQuota);
        run.ExpectDone(true, effect);
    }
}

/// <summary>An observer looks which nodes might be reaped.</summary>
internal sealed record Observe : Step
{
    public override void Run(ModelRun run) =>
        run.Observed = [.. run.World.Root.ReapableNodes().Select(ReapedNode.Of)];
}

internal sealed record Reap : Step
{
    public override void Run(ModelRun run)
    {
        var effect = run.Apply(new ReapRecord(run.Observed));
        var reaped = ImmutableArray.CreateBuilder<string>();
        foreach (var seen in run.Observed)
        {
            var may = run.Plain.Nodes.TryGetValue(seen.Path, out var node) && node.Owner < 0
                && !run.Plain.ChildrenOf(seen.Path).Any()
                && (node.Czxid, node.Mzxid, node.Pzxid) == (seen.Czxid, seen.Mzxid, seen.Pzxid);
            run.Seen.Add(may ? "reaped" : "not reaped");
            if (!may) continue;
            run.Plain.Remove(seen.Path);
            reaped.Add(seen.Path);
        }

        run.Expect(new ReapResult(reaped.ToImmutable()), effect);
    }
}

internal sealed record Reload : Step
{
    public override void Run(ModelRun run) => run.World.Reload();
}

/// <summary>The tree and the plain one, to which the same steps are applied.</summary>
internal sealed class ModelRun
{
    public ModelRun()
    {
        Plain.FrontEnds[World.FrontEnd] = new PlainFrontEnd();
        Plain.FrontEnds[1] = new PlainFrontEnd();
        World.Do(new FrontEndUpRecord(1, 1, "first"));
    }

    public World World { get; } = new();

    public PlainTree Plain { get; } = new();

    public ImmutableArray<ReapedNode> Observed { get; set; } = [];

    /// <summary>Things that occurred.</summary>
    public HashSet<string> Seen { get; } = [];

    public TreeEffect Apply(TreeRecord record, Caller? caller = null)
    {
        var before = World.Root;
        var saved = World.Save(before);
        var effect = World.Apply(record);
        // Z22: a root that was shown never changes.
        Assert.Equal(saved, World.Save(before));
        Plain.StartRecord(World.Zxid, caller ?? new Caller(0, 0, 0, []));
        return effect;
    }

    public void ExpectDone(bool done, TreeEffect effect) =>
        Expect(new OpResult(done ? ZooKeeperError.Ok : ZooKeeperError.SystemError), effect);

    public void Expect(TreeResult expected, TreeEffect effect)
    {
        Assert.Equal(expected, effect.Result);
        Assert.Equal(Plain.Changes, effect.Changes.Select(change => (change.Kind, change.Path)));
        Seen.Add(expected.Error.ToString());
    }

    public void Compare()
    {
        var root = World.Root;
        Assert.Equal(Plain.Nodes.Keys, root.Subtree("/").Select(node => node.Path).Order(StringComparer.Ordinal));
        Assert.Equal(Plain.Nodes.Count, root.NodeCount);
        foreach (var (path, expected) in Plain.Nodes)
        {
            var node = root.Find(path)!;
            Assert.Equal(Plain.StatOf(path), node.Stat);
            Assert.Equal(expected.Data, node.RawData);
            Assert.Equal(expected.Acl, node.Acl.Entries);
            Assert.Equal(Plain.ChildrenOf(path), node.Children.Paths().Order(StringComparer.Ordinal));
        }

        Assert.Equal(Plain.Sessions.Keys.Order(), root.AllSessions().Select(session => session.Id).Order());
        foreach (var (id, expected) in Plain.Sessions)
        {
            var session = root.FindSession(id)!;
            Assert.Equal((expected.Attachment, expected.FrontEnd), (session.Attachment, session.FrontEnd));
            Assert.Equal(Plain.OwnedBy(id), session.Ephemerals.ToArray());
        }

        Assert.Equal(Plain.FrontEnds.Keys.Order(), root.AllFrontEnds.Select(row => row.Id));
        foreach (var row in root.AllFrontEnds)
        {
            Assert.Equal(Plain.FrontEnds[row.Id].Beat, row.Beat);
            Assert.Equal(Plain.FrontEnds[row.Id].IsDown, row.IsDown);
            Assert.Equal(Plain.Sessions.Values.Count(session => session.FrontEnd == row.Id), row.Sessions);
        }

        Assert.Equal(Plain.Nodes.Where(node => node.Value.Owner < 0).Select(node => node.Key),
            root.ReapableNodes().Select(node => node.Path).Order(StringComparer.Ordinal));
        Assert.Equal(Plain.Nodes.Sum(node => node.Key.Length + (node.Value.Data?.Length ?? 0)), root.DataBytes);
    }
}
