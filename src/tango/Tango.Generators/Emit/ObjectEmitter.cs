using Microsoft.CodeAnalysis.CSharp;

namespace Tango.Generators;

/// <summary>Writes the other half of a [TangoObject] class: helpers, dispatch, checkpoint and static facts.</summary>
internal sealed class ObjectEmitter
{
    private const string Ns = "global::Tango";
    private const string Formatters = "global::Tango.Formatting.TangoFormatters";
    private const string Pack = "global::MessagePack";
    private const string Statics = "__Tango";
    private const string UnknownState =
        $"throw new {Ns}.TangoFormatException($\"The checkpoint has state '{{__name}}', which this code has not\");";

    private readonly ObjectModel _model;
    private readonly CodeWriter _code = new();
    // Distinct stored types in order of first use.
    private readonly List<string> _formats = [];
    private readonly List<string> _keys = [];

    private ObjectEmitter(ObjectModel model) => _model = model;

    public static string Emit(ObjectModel model) => new ObjectEmitter(model).Emit();

    private string Emit()
    {
        _code.OpenType(_model.Shell, $" : {Ns}.ITangoObject<{_model.Shell.Self}>");
        _code.Line($"static {Ns}.TangoObjectType {Ns}.ITangoObject<{_model.Shell.Self}>.ObjectType => {Statics}.Type;");
        foreach (OperationModel mutator in _model.Mutators) Mutator(mutator);
        foreach (OperationModel accessor in _model.Accessors) Accessor(accessor);
        Apply();
        SaveState();
        LoadState();
        StaticFacts();
        _code.CloseAll();
        return _code.ToString();
    }

    private void Mutator(OperationModel mutator)
    {
        Signature(mutator);
        ParameterModel[] arguments = [.. mutator.Parameters.Where(p => !p.IsKey)];
        string key = Key(mutator);
        _code.Line($"var __arguments = new {Ns}.ArgumentBuffer();");
        _code.Line($"var __writer = new {Pack}.MessagePackWriter(__arguments);");
        _code.Line($"__writer.WriteArrayHeader({arguments.Length});");
        foreach (ParameterModel p in arguments) _code.Line($"{Write(p.Type)}(ref __writer, {p.Name});");
        _code.Line("__writer.Flush();");
        if (arguments.Length > 0)
        {
            IEnumerable<string> nests = arguments.Select(p => $"{Formatters}.MayNest<{p.Type}>()").Distinct();
            _code.Line($"if ({string.Join(" || ", nests)}) {Formatters}.RequireShallow(__arguments);");
        }
        string result = mutator.Result is null ? "" : $"<{mutator.Result}>";
        _code.Line(
            $"return UpdateHelperAsync{result}({Statics}.M{mutator.Number}, {key}, __arguments, "
            + $"{mutator.Token ?? "default"});");
        _code.Close();
    }

    private void Accessor(OperationModel accessor)
    {
        Signature(accessor);
        string key = Key(accessor);
        string[] names = [.. accessor.Parameters.Select(p => p.Name)];
        string[] types = [.. accessor.Parameters.Select(p => p.Type)];
        (string stateType, string state, string arguments) = names.Length switch
        {
            0 => ("byte", "0", ""),
            1 => (types[0], names[0], "__state"),
            _ => ($"({string.Join(", ", types)})", $"({string.Join(", ", names)})",
                string.Join(", ", names.Select((_, i) => $"__state.Item{i + 1}"))),
        };
        _code.Line($"return QueryHelperAsync<{_model.Shell.Self}, {stateType}, {accessor.Result}>(");
        _code.Line(
            $"    {key}, {state}, static (__view, __state) => __view.Read{accessor.Name}({arguments}), "
            + $"{accessor.Token ?? "default"});");
        _code.Close();
    }

    private void Signature(OperationModel operation)
    {
        IEnumerable<string> parameters = operation.Parameters.Select(p => $"{p.Type} {p.Name}");
        if (operation.Token is { } token)
            parameters = parameters.Append($"global::System.Threading.CancellationToken {token}");
        string result = operation.Result is null ? "" : $"<{operation.Result}>";
        _code.Line();
        _code.Open(
            $"{operation.Modifiers} partial global::System.Threading.Tasks.ValueTask{result} "
            + $"{operation.Name}Async({string.Join(", ", parameters)})");
        foreach (ParameterModel p in operation.Parameters)
        {
            if (p.RefusesNull)
                _code.Line($"if ({p.Name} is null) throw new global::System.ArgumentNullException(nameof({p.Name}));");
        }
    }

    /// <summary>Writes the statements that build the version key, if there is one, and returns the expression for
    /// it.</summary>
    private string Key(OperationModel operation)
    {
        ParameterModel[] keys = [.. operation.Parameters.Where(p => p.IsKey)];
        if (keys.Length == 0) return $"{Ns}.ObjectKey.None";
        _code.Line($"var __key = new {Ns}.ArgumentBuffer();");
        _code.Line($"var __keyWriter = new {Pack}.MessagePackWriter(__key);");
        foreach (ParameterModel p in keys)
        {
            if (!_keys.Contains(p.Type)) _keys.Add(p.Type);
            _code.Line($"{Write(p.Type)}(ref __keyWriter, {p.Name});");
        }
        _code.Line("__keyWriter.Flush();");
        return $"{Ns}.ObjectKey.From(__key)";
    }

    private void Apply()
    {
        const string bytes = "global::System.ReadOnlyMemory<byte>";
        _code.Line();
        _code.Open(
            $"void {Ns}.ITangoView.Apply(int __mutator, {bytes} __key, {bytes} __arguments, in {Ns}.ApplyContext "
            + "__context)");
        _code.Line($"var __keyReader = new {Pack}.MessagePackReader(__key);");
        _code.Line($"var __reader = new {Pack}.MessagePackReader(__arguments);");
        _code.Open("switch (__mutator)");
        foreach (OperationModel mutator in _model.Mutators)
        {
            _code.Open($"case {mutator.Number}:");
            _code.Line($"{Formatters}.ReadArguments(ref __reader, {mutator.Parameters.Count(p => !p.IsKey)});");
            var names = new List<string>();
            foreach (ParameterModel p in mutator.Parameters)
            {
                if (p.IsLogOnly)
                {
                    _code.Line($"{Formatters}.Skip(ref __reader);");
                    continue;
                }
                string name = $"__{names.Count}";
                names.Add(name);
                _code.Line($"var {name} = {Read(p.Type)}(ref {(p.IsKey ? "__keyReader" : "__reader")});");
            }
            _code.Line($"{Formatters}.RequireEnd(ref __keyReader);");
            _code.Line($"{Formatters}.RequireEnd(ref __reader);");
            if (mutator.TakesPlace) names.Add("__context.Place");
            string call = $"Apply{mutator.Name}({string.Join(", ", names)})";
            _code.Line(mutator.Result is null ? $"{call};" : $"__context.Return<{mutator.Result}>({call});");
            _code.Line("return;");
            _code.Close();
        }
        _code.Line("default:");
        _code.Line($"    throw new {Ns}.TangoUnknownRecordException({Statics}.Type.Name, __mutator);");
        _code.Close();
        _code.Close();
    }

    private void SaveState()
    {
        _code.Line();
        _code.Open($"void {Ns}.ITangoView.SaveState(global::System.Buffers.IBufferWriter<byte> __output)");
        _code.Line($"var __writer = new {Pack}.MessagePackWriter(__output);");
        _code.Line($"__writer.WriteMapHeader({_model.State.Count});");
        foreach (StateModel state in _model.State)
        {
            _code.Line($"__writer.Write(\"{state.Name}\");");
            _code.Line($"{Write(state.Type)}(ref __writer, this.{Names.Escape(state.Name)});");
        }
        _code.Line("__writer.Flush();");
        _code.Close();
    }

    private void LoadState()
    {
        _code.Line();
        _code.Open($"void {Ns}.ITangoView.LoadState(global::System.ReadOnlyMemory<byte> __state)");
        _code.Line($"var __reader = new {Pack}.MessagePackReader(__state);");
        if (_model.State.Count == 0)
        {
            // A switch without a case would be a loop that never goes round: a warning in the user's build.
            _code.Open($"if ({Formatters}.ReadState(ref __reader) > 0)");
            _code.Line($"string? __name = {Formatters}.Read<string?>(ref __reader);");
            _code.Line(UnknownState);
            _code.Close();
        }
        else
        {
            Fields();
        }
        _code.Line($"{Formatters}.RequireEnd(ref __reader);");
        _code.Close();
    }

    private void Fields()
    {
        _code.Open($"for (int __left = {Formatters}.ReadState(ref __reader); __left > 0; __left--)");
        _code.Line($"string? __name = {Formatters}.Read<string?>(ref __reader);");
        _code.Open("switch (__name)");
        foreach (StateModel state in _model.State)
        {
            string field = "this." + Names.Escape(state.Name);
            _code.Open($"case \"{state.Name}\":");
            _code.Line($"var __value = {Read(state.Type)}(ref __reader);");
            string? with = state.Comparers switch
            {
                1 => $"__value.WithComparer({field}.KeyComparer)",
                2 => $"__value.WithComparers({field}.KeyComparer, {field}.ValueComparer)",
                _ => null,
            };
            _code.Line(
                with is null
                    ? $"{field} = __value;"
                    : $"{field} = __value is null || {field} is null ? __value! : {with};");
            _code.Line("break;");
            _code.Close();
        }
        _code.Line("default:");
        _code.Line("    " + UnknownState);
        _code.Close();
        _code.Close();
    }

    private void StaticFacts()
    {
        _code.Line();
        _code.Open($"private static class {Statics}");
        foreach (OperationModel m in _model.Mutators)
        {
            string reads = m.Result is not null || m.MayReject ? "true" : "false";
            _code.Line(
                $"public static readonly {Ns}.MutatorInfo M{m.Number} = new({m.Number}, \"{m.Name}\", {reads});");
        }
        _code.Line();
        string name = SymbolDisplay.FormatLiteral(_model.TypeName, quote: true);
        if (_model.Shell.TypeParameters.Count > 0)
            name =
                $"{Ns}.TangoTypeName.Generic({name}, "
                + $"{string.Join(", ", _model.Shell.TypeParameters.Select(p => $"typeof({p})"))})";
        _code.Line($"public static readonly {Ns}.TangoObjectType Type = new(");
        string mutators = string.Concat(_model.Mutators.Select(m => $", M{m.Number}"));
        _code.Line($"    {name}, static () => new {_model.Shell.Self}(), Verify{mutators});");
        _code.Line();
        if (_model.Closed.Count > 0)
        {
            _code.Open($"static {Statics}()");
            foreach (string statement in _model.Closed) _code.Line(statement);
            _code.Close();
            _code.Line();
        }
        _code.Open($"private static void Verify({Ns}.Formatting.StoredTypes types)");
        foreach (string type in _formats)
        {
            string verb = _keys.Contains(type) ? "AddKey" : "Add";
            _code.Line($"types.{verb}<{type}>();");
        }
        _code.Close();
        _code.Close();
    }

    private string Write(string type) => $"{Uses(type)}.Write<{type}>";

    private string Read(string type) => $"{Uses(type)}.Read<{type}>";

    private string Uses(string type)
    {
        if (!_formats.Contains(type)) _formats.Add(type);
        return Formatters;
    }
}
