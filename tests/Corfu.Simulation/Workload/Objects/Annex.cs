using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>A register of a type that a client knows once it runs newer code: until then it plays it without a view
/// (R20).</summary>
[TangoObject("simulation.annex")]
public sealed partial class Annex : TangoObject
{
    private string? _value;

    [Mutator(1)]
    public partial ValueTask WriteAsync(string value, CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<string?> ReadAsync(CancellationToken cancellationToken = default);

    private void ApplyWrite(string value) => _value = value;

    private string? ReadRead() => _value;
}
