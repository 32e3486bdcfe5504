namespace Corfu.Agent;

/// <summary>The deny list of an agent: takes what operators and other agents tell, and keeps it. Runs on the agent's
/// loop.</summary>
internal sealed class Denials(AgentOptions options, TimeProvider time, ILogger logger)
{
    private bool _isKept = true;

    public DenyList List { get; } = new(options.Denied, time);

    /// <returns>Ok only where the list would survive a restart of this process.</returns>
    public Status Deny(ImmutableArray<DeniedCertificate> certificates)
    {
        if (!List.TryAdd(certificates, out var isNew)) return Status.Overloaded;
        foreach (var certificate in certificates) AgentLog.Denied(logger, certificate.Serial);

        // A list that an earlier attempt could not keep is kept with the next one.
        return isNew || !_isKept ? Keep() : Status.Ok;
    }

    public void Merge(ImmutableArray<DeniedCertificate> certificates)
    {
        if (List.Merge(certificates)) Keep();
    }

    private Status Keep()
    {
        _isKept = options.DeniedChanged?.Invoke(List.Entries) ?? true;
        if (!_isKept) AgentLog.DeniedNotKept(logger);
        return _isKept ? Status.Ok : Status.Failed;
    }
}
