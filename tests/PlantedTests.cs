using System.Runtime.CompilerServices;

namespace Corfu;

/// <summary>In builds with <c>-p:Planted=true</c>: the bug that the environment names is switched on for all tests of
/// this project (tests/planted.sh).</summary>
internal static class PlantedTests
{
#pragma warning disable CA2255 // The switch is set before any code of the product runs.
    [ModuleInitializer]
#pragma warning restore CA2255
    internal static void Switch() =>
        AppContext.SetData("Corfu.Planted", Environment.GetEnvironmentVariable("CORFU_PLANTED"));
}
