using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;

namespace Corfu.Simulation.Tests;

/// <summary>The kernel simulates processes, messages and disks, whatever system runs in it.</summary>
public sealed class KernelTests
{
    // The product's ports that the kernel implements, and what their signatures name.
    private static readonly string[] s_ports =
    [
        "IEntropy", "LoopContext", "ITransport", "IRoleHandler", "IReplySink", "ReplyTo", "TransportException",
        "TransportFault", "ISegmentFiles", "IWorkers", "IWorker", "ClusterId", "NodeId", "NodeAddress", "NodeEndpoint",
        "NodeDescription", "NodeRole", "RoleIdentity", "Request", "Request`1", "Response", "Opcode", "FrameBuffer",
        "FrameHeader", "MessageCodec", "RequestTable",
        // The rights of peers, which a server judges before a role gets a request, and its answer.
        "Principal", "AccessRole", "AccessVerdict", "IRequestGate", "Status", "AckResponse", "Epoch",
        // Findings.
        "Violation", "CheckerNames",
    ];

    [Fact]
    public void Kernel_names_no_type_of_the_log()
    {
        using var assembly = new PEReader(
            File.OpenRead(Path.Combine(AppContext.BaseDirectory, "Corfu.Simulation.Kernel.dll")));
        MetadataReader metadata = assembly.GetMetadataReader();
        IEnumerable<string> product =
            from handle in metadata.TypeReferences
            let type = metadata.GetTypeReference(handle)
            let space = metadata.GetString(type.Namespace)
            where space is "Corfu" or "Tango" || space.StartsWith("Corfu.", StringComparison.Ordinal)
                || space.StartsWith("Tango.", StringComparison.Ordinal)
            select metadata.GetString(type.Name);
        Assert.Empty(product.Except(s_ports));
    }
}
