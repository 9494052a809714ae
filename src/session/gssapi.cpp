#include "session/gssapi.hpp"

#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>

#include <array>
#include <cstdint>

#include "text/one_line.hpp"

namespace custodian::detail {
namespace {

using Kind = SaslError::Kind;

/// A buffer that GSSAPI has allocated, released with this object.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    OM_uint32 ignored = 0;
    ::gss_release_buffer(&ignored, &buffer_);
  }

  [[nodiscard]] gss_buffer_t get() noexcept { return &buffer_; }
  [[nodiscard]] std::string text() const {
    return buffer_.length == 0
               ? std::string{}
               : std::string{static_cast<const char*>(buffer_.value), buffer_.length};
  }

 private:
  gss_buffer_desc buffer_ = GSS_C_EMPTY_BUFFER;
};

/// A text as an input of GSSAPI, which takes a char* but does not write there.
gss_buffer_desc as_buffer(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};
}

/// A code in words. For the calling thread's newest failure, the words contain names and times.
std::string words_of(OM_uint32 code, int kind) {
  std::string words;
  OM_uint32 more = 0;
  do {
    Buffer part;
    OM_uint32 minor = 0;
    if (GSS_ERROR(::gss_display_status(&minor, code, kind, gss_mech_krb5, &more, part.get())))
      break;
    words += (words.empty() ? "" : "; ") + part.text();
  } while (more != 0);
  return words;
}

[[noreturn]] void fail(const std::string& step, OM_uint32 major, OM_uint32 minor) {
  const OM_uint32 error = GSS_ROUTINE_ERROR(major);
  // For these two codes, GSSAPI says only that something failed. Kerberos' own code says what.
  const bool is_general = error == GSS_S_FAILURE || error == GSS_S_NO_CRED;
  std::string reason =
      is_general && minor != 0 ? words_of(minor, GSS_C_MECH_CODE) : words_of(major, GSS_C_GSS_CODE);
  if (reason.empty()) reason = "no reason is given";
  // The words may be a KDC's, so they are made safe for a log.
  throw SaslError{Kind::failed, step + ": " + in_one_line(reason)};
}

gss_name_t name_of(const std::string& step, const std::string& text, gss_OID type) {
  gss_buffer_desc buffer = as_buffer(text);
  gss_name_t name = GSS_C_NO_NAME;
  OM_uint32 minor = 0;
  const OM_uint32 major = ::gss_import_name(&minor, &buffer, type, &name);
  if (GSS_ERROR(major)) fail(step, major, minor);
  return name;
}

/// The credentials that the options name, or those of the environment.
gss_cred_id_t credential_of(const SaslOptions& options, gss_name_t client) {
  std::string cache = options.credential_cache;
  // The environment's cache may have another principal's tickets, and those would be used. So
  // clients of the same keytab share a cache in memory.
  if (cache.empty() && !options.client_keytab.empty()) {
    cache = "MEMORY:custodian:" + options.client_keytab + ":" + options.principal;
  }
  std::array<gss_key_value_element_desc, 2> elements{};
  OM_uint32 count = 0;
  if (!cache.empty()) elements[count++] = {"ccache", cache.c_str()};
  if (!options.client_keytab.empty()) {
    elements[count++] = {"client_keytab", options.client_keytab.c_str()};
  }
  const gss_key_value_set_desc store{count, elements.data()};
  gss_OID_set_desc mechanisms{1, gss_mech_krb5};
  gss_cred_id_t credential = GSS_C_NO_CREDENTIAL;
  OM_uint32 minor = 0;
  const OM_uint32 major = ::gss_acquire_cred_from(
      &minor, client, GSS_C_INDEFINITE, &mechanisms, GSS_C_INITIATE,
      count == 0 ? GSS_C_NO_CRED_STORE : &store, &credential, nullptr, nullptr);
  if (GSS_ERROR(major)) {
    fail("no ticket of this client (kinit gets one, and so does SaslOptions::client_keytab)", major,
         minor);
  }
  return credential;
}

}  // namespace

Gssapi::Handles::~Handles() {
  OM_uint32 ignored = 0;
  ::gss_delete_sec_context(&ignored, &context, GSS_C_NO_BUFFER);
  ::gss_release_cred(&ignored, &credential);
  ::gss_release_name(&ignored, &client);
  ::gss_release_name(&ignored, &server);
}

Gssapi::Gssapi(const SaslOptions& options, const std::string& server) {
  handles_.server = name_of("the server's name", server, GSS_C_NT_HOSTBASED_SERVICE);
  if (!options.principal.empty()) {
    handles_.client = name_of("SaslOptions::principal", options.principal, GSS_C_NT_USER_NAME);
  }
  handles_.credential = credential_of(options, handles_.client);
  first_ = advance({});
}

std::optional<std::string> Gssapi::respond(std::string_view challenge) {
  switch (awaits_) {
    case Await::server: return advance(challenge);
    case Await::layers: return choose_layer(challenge);
    // The server answers the last token, too: with nothing, or with a refusal.
    case Await::outcome: break;
  }
  return std::nullopt;
}

std::string Gssapi::advance(std::string_view token) {
  constexpr OM_uint32 wanted = GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_SEQUENCE_FLAG;
  const bool first = handles_.context == GSS_C_NO_CONTEXT;
  if (!first && token.empty()) {
    throw SaslError{Kind::failed,
                    "the server does not speak it: has it authProvider.sasl, and a section Server "
                    "with Krb5LoginModule in its JAAS configuration?"};
  }
  gss_buffer_desc input = as_buffer(token);
  Buffer output;
  OM_uint32 minor = 0;
  OM_uint32 granted = 0;
  const OM_uint32 major = ::gss_init_sec_context(
      &minor, handles_.credential, &handles_.context, handles_.server, gss_mech_krb5, wanted, 0,
      GSS_C_NO_CHANNEL_BINDINGS, &input, nullptr, output.get(), &granted, nullptr);
  if (GSS_ERROR(major))
    fail(first ? "no ticket for the server" : "the server's proof", major, minor);
  if (major == GSS_S_COMPLETE) {
    constexpr OM_uint32 needed = GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG;
    if ((granted & needed) != needed) {
      throw SaslError{Kind::failed, "the server has not proven who it is"};
    }
    awaits_ = Await::layers;
  }
  return output.text();
}

std::string Gssapi::choose_layer(std::string_view offer) {
  constexpr unsigned char no_layer = 1;
  gss_buffer_desc input = as_buffer(offer);
  Buffer plain;
  OM_uint32 minor = 0;
  OM_uint32 major = ::gss_unwrap(&minor, handles_.context, &input, plain.get(), nullptr, nullptr);
  if (GSS_ERROR(major)) fail("the server's offer of layers", major, minor);
  const std::string layers = plain.text();
  if (layers.size() != 4)
    throw SaslError{Kind::failed, "the server's offer of layers is malformed"};
  if ((static_cast<unsigned char>(layers[0]) & no_layer) == 0) {
    throw SaslError{Kind::failed, "the server insists on a layer of protection"};
  }
  const std::string choice{static_cast<char>(no_layer), 0, 0, 0};
  gss_buffer_desc chosen = as_buffer(choice);
  Buffer output;
  major =
      ::gss_wrap(&minor, handles_.context, 0, GSS_C_QOP_DEFAULT, &chosen, nullptr, output.get());
  if (GSS_ERROR(major)) fail("the choice of a layer", major, minor);
  awaits_ = Await::outcome;
  return output.text();
}

}  // namespace custodian::detail
