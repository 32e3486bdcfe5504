namespace Corfu.Layout;

/// <summary>An acceptor of projections as a role of a process: one register per epoch.</summary>
public sealed class AcceptorHandler : IRoleHandler, IAsyncDisposable
{
    private sealed record Caller(ProjectionRegister Register, ReplyTo Reply) : IRegisterCaller
    {
        public void Answer(RegisterAnswer answer)
        {
            if (answer.Status == Status.Outbid) LayoutTelemetry.Outbid.Add(1);
            Reply.Send(Register.ToResponse(answer));
        }

        public bool IsSameConnection(IRegisterCaller other) => other is Caller caller && Reply.IsSameWay(caller.Reply);
    }

    private readonly Acceptor _acceptor;
    private readonly ProjectionRegister _register;

    private AcceptorHandler(Acceptor acceptor, ProjectionRegister register)
    {
        _acceptor = acceptor;
        _register = register;
        LayoutTelemetry.Acceptors.Add(this);
    }

    public NodeRole Role => NodeRole.Acceptor;

    public NodeId Id => _acceptor.Id;

    public ClusterId Cluster => _acceptor.Cluster;

    public int MaxWaiting => _acceptor.MaxWaiting;

    /// <inheritdoc cref="Acceptor.Fault"/>
    public Task<Exception> Fault => _acceptor.Fault;

    /// <summary>The newest decided projection known here; perhaps not durable yet, and no quorum's word.</summary>
    public Projection? Latest => _register.ToProjection(_acceptor.Newest);

    internal int WatcherCount => _acceptor.WatcherCount;

    internal Epoch HighestSlot => _acceptor.HighestSlot;

    /// <inheritdoc cref="Acceptor.OpenAsync"/>
    public static async Task<AcceptorHandler> OpenAsync(
        IAcceptorDevice device, ClusterId cluster, NodeId formatAs = default, AcceptorOptions? options = null)
    {
        using var activity = LayoutTelemetry.Activities.StartActivity("corfu.layout.open");
        var register = new ProjectionRegister();
        var acceptor = await Acceptor.OpenAsync(new TimedDevice(device), register, cluster, formatAs, options);
        return new AcceptorHandler(acceptor, register);
    }

    public void Handle(Request request, ReplyTo reply)
    {
        var asked = ProjectionRegister.Read(request);
        var status = Check(request, asked);
        if (status == Status.Ok) _acceptor.Handle(asked!, new Caller(_register, reply));
        else reply.Send(request.Fail(status, _acceptor.Newest?.Slot ?? Epoch.None));
    }

    public void BatchEnd() => _acceptor.BatchEnd();

    public ValueTask DisposeAsync()
    {
        LayoutTelemetry.Acceptors.Remove(this);
        return _acceptor.DisposeAsync();
    }

    private Status Check(Request request, RegisterRequest? asked) => (request, asked) switch
    {
        (_, null) => Status.Unsupported,
        // R2: in a slot of this cluster it would be completed by the next reader, and every client would leave.
        (AcceptRequest { Value: var value }, _) when value.Cluster != Cluster => Status.BadRequest,
        (DecidedRequest { Value: var value }, _) when value.Cluster != Cluster => Status.BadRequest,
        // An older version's encoding may be shorter: this one could not be read back.
        (_, AcceptValue { Value.Bytes.Length: > MessageLimits.MaxProjection }) => Status.TooLarge,
        (_, LearnDecision { Value.Bytes.Length: > MessageLimits.MaxProjection }) => Status.TooLarge,
        _ => Status.Ok,
    };
}
