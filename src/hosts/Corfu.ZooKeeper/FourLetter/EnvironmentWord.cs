using System.Runtime.InteropServices;

namespace Corfu.ZooKeeper.FourLetter;

/// <summary>The word <c>envi</c>. Clients take the server's version from its second line.</summary>
internal static class EnvironmentWord
{
    public static string Text() => $"""
        Environment:
        zookeeper.version={StatusWords.Version}
        host.name={Environment.MachineName}
        dotnet.version={Environment.Version}
        os.name={(OperatingSystem.IsLinux() ? "Linux" : RuntimeInformation.OSDescription)}
        os.arch={RuntimeInformation.OSArchitecture}
        os.version={Environment.OSVersion.Version}

        """;
}
