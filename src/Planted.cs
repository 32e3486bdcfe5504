using System.Runtime.CompilerServices;

namespace Corfu;

/// <summary>
/// Known bugs by name, which prove that the tests would notice (docs/testing-simulator.md). No product build has one:
/// the answer is inlined, and the compiler drops the branch. Builds with <c>-p:Planted=true</c> take
/// <c>tests/Planted.cs</c> in place of this file.
/// </summary>
internal static class Planted
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Is(string _) => false;
}
