using System.Reflection;
using System.Runtime.CompilerServices;
using Corfu.Grpc.Protocol.V1;
using Google.Api;
using Google.Protobuf.Reflection;

namespace Corfu.Grpc.Tests.Contract;

/// <summary>
/// The contracts as recorded: one file for each .proto file in <c>Golden/</c>, a line for each method, message, field
/// and value. From 1.0 on lines are only added (docs/compatibility.md). Set CORFU_RECORD=1 to record a change.
/// </summary>
public sealed class ContractTests
{
    private static readonly bool s_recording = Environment.GetEnvironmentVariable("CORFU_RECORD") == "1";

    private static readonly FileDescriptor[] s_files =
    [
        .. typeof(TypesReflection).Assembly.GetTypes()
            .Select(type => type.GetProperty("Descriptor", BindingFlags.Public | BindingFlags.Static)?.GetValue(null))
            .OfType<FileDescriptor>(),
    ];

    public static TheoryData<string> Files => [.. s_files.Select(NameOf)];

    [Theory]
    [MemberData(nameof(Files))]
    public void Contract_is_as_recorded(string contract)
    {
        var lines = Describe(s_files.Single(file => NameOf(file) == contract)).ToArray();
        var name = $"{contract}.txt";
        if (s_recording) File.WriteAllLines(Path.Combine(SourceFolder(), name), lines);
        else Assert.Equal(File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Contract", "Golden", name)), lines);
    }

    [Fact]
    public void Every_recording_is_of_a_contract()
    {
        var names = Directory.EnumerateFiles(Path.Combine(AppContext.BaseDirectory, "Contract", "Golden"))
            .Select(Path.GetFileNameWithoutExtension);
        Assert.Equal(s_files.Select(NameOf).Order(), names.Order());
    }

    private static string NameOf(FileDescriptor file) => Path.ChangeExtension(file.Name, null).Replace('/', '.');

    private static IEnumerable<string> Describe(FileDescriptor file)
    {
        var proto = file.ToProto();
        yield return $"package {file.Package}";
        yield return $"go_package {proto.Options.GoPackage}";
        yield return $"java_package {proto.Options.JavaPackage}";
        yield return $"csharp_namespace {proto.Options.CsharpNamespace}";
        foreach (var service in file.Services)
        {
            foreach (var method in service.Methods)
            {
                var (input, output) = (Stream(method.IsClientStreaming), Stream(method.IsServerStreaming));
                yield return $"rpc {service.FullName}/{method.Name} {input}{method.InputType.FullName} "
                    + $"{output}{method.OutputType.FullName} {method.ToProto().Options?.IdempotencyLevel}";
            }
        }

        foreach (var line in file.MessageTypes.SelectMany(Describe)) yield return line;
        foreach (var line in file.EnumTypes.SelectMany(Describe)) yield return line;
    }

    private static IEnumerable<string> Describe(MessageDescriptor message)
    {
        if (message.IsMapEntry) yield break;
        yield return $"message {message.FullName}";
        foreach (var field in message.Fields.InFieldNumberOrder())
        {
            var behavior = field.GetOptions()?.GetExtension(FieldBehaviorExtensions.FieldBehavior) ?? [];
            yield return $"field {field.FullName} {field.FieldNumber} {Label(field)}{TypeOf(field)}"
                + string.Concat(behavior.Select(value => $" {value}"));
        }

        foreach (var line in message.NestedTypes.SelectMany(Describe)) yield return line;
        foreach (var line in message.EnumTypes.SelectMany(Describe)) yield return line;
    }

    private static IEnumerable<string> Describe(EnumDescriptor values) =>
        values.Values.Select(value => $"enum {values.FullName} {value.Name} {value.Number}");

    private static string TypeOf(FieldDescriptor field) => field.IsMap
        ? $"{TypeOf(field.MessageType.FindFieldByNumber(1))} to {TypeOf(field.MessageType.FindFieldByNumber(2))}"
        : field.FieldType switch
        {
            FieldType.Message => field.MessageType.FullName,
            FieldType.Enum => field.EnumType.FullName,
            var type => type.ToString().ToLowerInvariant(),
        };

    private static string Label(FieldDescriptor field) => field switch
    {
        { IsMap: true } => "map ",
        { IsRepeated: true } => "repeated ",
        { RealContainingOneof: { } oneof } => $"oneof {oneof.Name} ",
        { HasPresence: true, FieldType: not FieldType.Message } => "optional ",
        _ => "",
    };

    private static string Stream(bool isStream) => isStream ? "stream " : "";

    private static string SourceFolder([CallerFilePath] string file = "") =>
        Path.Combine(Path.GetDirectoryName(file)!, "Golden");
}
