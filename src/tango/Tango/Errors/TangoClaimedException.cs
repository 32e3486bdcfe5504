using System.Collections.Immutable;
using Corfu;

namespace Tango;

/// <summary>History that was to be trimmed is still needed. Nothing was done.</summary>
/// <param name="claims">Claims that lie below, lowest first.</param>
public sealed class TangoClaimedException(LogPosition below, ImmutableArray<TangoClaim> claims)
    : TangoException(
        $"{claims.Length} claims need history below {below.Offset}; the lowest is that of '{claims[0].Name}' at "
        + $"{claims[0].Position.Offset}")
{
    public LogPosition Below { get; } = below;

    public ImmutableArray<TangoClaim> Claims { get; } = claims;
}
