namespace Craq.Protocol;

/// <summary>Tells a member a config that the directory has recorded. Idempotent; taken if its epoch is
/// higher.</summary>
public sealed record InstallChainRequest(Epoch Epoch, ChainView View)
    : Request<InstallChainResponse>(CraqOpcode.Install, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.View(View);

    internal static InstallChainRequest Read(Epoch epoch, ref WireReader r)
    {
        var view = r.View();
        return view.Config.Epoch == epoch
            ? new InstallChainRequest(epoch, view)
            : throw new MalformedDataException("A config's epoch is not its frame's.");
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new InstallChainResponse(status, epoch) { Last = r.Version(), Mark = r.Version() }
        : new InstallChainResponse(status, epoch) { View = ChainAnswer.ReadView(status, ref r) };

    public override Response Fail(Status status, Epoch epoch) => new InstallChainResponse(status, epoch);
}

/// <summary>The config is durable at the member, which refuses lower epochs from now on.</summary>
public sealed record InstallChainResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>The member's newest durable record.</summary>
    public ObjectVersion Last { get; init; }

    public ObjectVersion Mark { get; init; }

    public ChainView? View { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk)
        {
            w.Version(Last);
            w.Version(Mark);
        }

        ChainAnswer.WriteView(Status, View, ref w);
    }
}
