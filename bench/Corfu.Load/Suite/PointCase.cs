namespace Corfu.Load.Suite;

/// <summary>How one point of a scenario is measured: what each of its generator processes does.</summary>
/// <param name="X">Place on the scenario's axis.</param>
/// <param name="Parts">Work of each process.</param>
internal sealed record PointCase(string Series, double X, string Label, IReadOnlyList<CasePart> Parts)
{
    private const int DefaultSize = 128;

    public Baseline Baseline { get; init; } = Baseline.Echo;

    /// <summary>Whether write and fdatasync are measured beside it too.</summary>
    public bool IsDurable { get; init; }

    /// <summary>A server of another kind; null: what the other cases of the run load.</summary>
    public string? Target { get; init; }

    /// <summary>Processor seconds of the servers since their start; null: they are not watched.</summary>
    public Func<double>? Servers { get; init; }

    /// <summary>Payload bytes of an operation.</summary>
    public int Size { get; init; } = DefaultSize;

    /// <summary>Whether a quick run has this point.</summary>
    public bool InQuick { get; init; } = true;

    /// <summary>The same in each of so many processes, the callers shared out evenly.</summary>
    public static PointCase Even(string series, double x, string label, int processes, int inFlight, WorkloadKind kind,
        Func<int, WorkloadSetting>? setting = null) => new(series, x, label,
        [
            .. Enumerable.Range(0, Math.Min(processes, inFlight)).Select(process => new CasePart(
                kind, (inFlight / processes) + (process < inFlight % processes ? 1 : 0))
            {
                Setting = setting?.Invoke(process) ?? WorkloadSetting.Default,
            }),
        ]);

    /// <summary>Cases with equal keys share the echo of a round.</summary>
    public string EchoKey =>
        $"{Size}: {string.Join(' ', Parts.Select(static part => $"{part.Callers}/{part.Connections}"))}";
}

/// <summary>Work of one generator process.</summary>
internal sealed record CasePart(WorkloadKind Kind, int Callers)
{
    public WorkloadSetting Setting { get; init; } = WorkloadSetting.Default;

    /// <summary>Operations a second of this process; null: as many as it can.</summary>
    public double? PerSecond { get; init; }

    /// <summary>Series of the part's figures, if not the case's own.</summary>
    public string? Series { get; init; }

    /// <summary>Connections that its callers share; the echo has as many.</summary>
    public int Connections => Setting.OwnConnections ? Callers : Setting.Connections;
}
