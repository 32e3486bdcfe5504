#if PLANTED
namespace Corfu.Protocol;

/// <summary>Known bugs, compiled in only with <c>-p:Planted=true</c> and switched on one at a time by name: they prove
/// that the simulator would notice (docs/testing-simulator.md). No product build contains this type.</summary>
public static class Planted
{
    private static string? s_active;

    public static void Activate(string? name) => s_active = name;

    public static bool Is(string name) => string.Equals(s_active, name, StringComparison.Ordinal);
}
#endif
